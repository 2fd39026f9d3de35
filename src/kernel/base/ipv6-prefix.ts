/**
 * The network part of an IPv6 address: one host can use every address of its /64, so per-address
 * limits count the prefix.
 */

/**
 * The first four groups in lower case without leading zeros, e.g. `2001:db8:0:1`. `address` is a
 * valid IPv6 address; its zone is dropped.
 */
export function ipv6Prefix(address: string): string {
  const [head = [], tail = []] = (address.split("%", 1)[0] ?? "")
    .split("::")
    .map((half) => (half === "" ? [] : half.split(":")));
  // `::` stands for zeros.
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
  return [...head, ...zeros, ...tail]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
}
