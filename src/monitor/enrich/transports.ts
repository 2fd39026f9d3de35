/** Names of IANA protocol numbers, as flow records carry them. */

const names = new Map<number, string>([
  [1, "icmp"],
  [2, "igmp"],
  [6, "tcp"],
  [17, "udp"],
  [47, "gre"],
  [50, "esp"],
  [51, "ah"],
  [58, "ipv6-icmp"],
  [89, "ospf"],
  [99, "tsmp"],
  [132, "sctp"],
]);

/** `unknown` for 0, undefined and invalid numbers; the number itself if it has no name. */
export function transportName(protocol: number | undefined): string {
  if (protocol === undefined || protocol < 1 || protocol > 255) return "unknown";
  return names.get(protocol) ?? String(protocol);
}
