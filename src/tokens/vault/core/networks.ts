/** Groups addresses for counting failures. */
import { isIPv6 } from "node:net";
import { ipv6Prefix } from "../../../kernel/base/ipv6-prefix.ts";
import { isLoopback } from "../../../kernel/config/address.ts";

const MAPPED = "::ffff:";

/**
 * An IPv4 address, or the /64 of an IPv6 address, since one host may own all of it; undefined if
 * unknown.
 */
export function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || address === "") return undefined;
  if (address.startsWith(MAPPED) && address.includes(".")) return address.slice(MAPPED.length);
  if (!isIPv6(address) || isLoopback(address)) return address;
  return `${ipv6Prefix(address)}::/64`;
}
