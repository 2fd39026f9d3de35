/** Spellings of IP addresses, and the networks that addresses belong to. Zones are ignored. */
import { BlockList, isIP, isIPv6 } from "node:net";

/**
 * The IPv4 address inside an IPv4-mapped IPv6 address (`::ffff:0:0/96`, RFC 4291), in any spelling:
 * a socket for both families names IPv4 peers so. Undefined for every other text.
 */
export function mappedIpv4(address: string): string | undefined {
  if (!/ffff:/i.test(address) || !isIPv6(address)) return undefined;
  const groups = ipv6Groups(address);
  if (groups[5] !== 0xffff || groups.slice(0, 5).some((group) => group !== 0)) return undefined;
  return dottedIpv4(groups[6] ?? 0, groups[7] ?? 0);
}

/** An IPv4-mapped address as IPv4; any other text unchanged. */
export function unmapped(address: string): string {
  return mappedIpv4(address) ?? address;
}

/** An IPv4 address from its two halves of 16 bits. */
export function dottedIpv4(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}

/** The eight groups of a valid IPv6 address, whose end may be spelled as IPv4. */
export function ipv6Groups(address: string): readonly number[] {
  const [bare = ""] = address.split("%", 1);
  const hexadecimal = bare.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number);
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  });
  const [head = [], tail = []] = hexadecimal
    .split("::")
    .map((half) => (half === "" ? [] : half.split(":")));
  // `::` stands for zeros.
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
  return [...head, ...zeros, ...tail].map((group) => Number.parseInt(group, 16));
}

/**
 * The /64 of a valid IPv6 address: its first four groups in lower case without leading zeros, e.g.
 * `2001:db8:0:1`. One host can use every address of its /64, so per-address limits count it.
 */
export function ipv6Prefix(address: string): string {
  return ipv6Groups(address)
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":");
}

/** Addresses of Tailscale and Headscale nodes: the range of RFC 6598 and a unique local prefix. */
const overlay = new BlockList();
overlay.addSubnet("100.64.0.0", 10, "ipv4");
overlay.addSubnet("fd7a:115c:a1e0::", 48, "ipv6");

/** Whether an IP address of this family is one of an overlay network; mapped IPv4 counts as IPv4. */
export function isOverlayAddress(address: string, family: "ipv4" | "ipv6"): boolean {
  return overlay.check(address, family);
}

/** The same of a host, without brackets; false for a name. */
export function isOverlayHost(host: string): boolean {
  const family = isIP(host);
  return family !== 0 && isOverlayAddress(host, family === 4 ? "ipv4" : "ipv6");
}
