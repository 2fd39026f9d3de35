/** Groups addresses for counting failures. */
import { isIPv6 } from "node:net";
import { ipv6Prefix, unmapped } from "../../../kernel/base/ip-address.ts";
import { isLoopback } from "../../../kernel/config/values/address.ts";

/**
 * An IPv4 address, or the /64 of an IPv6 address, since one host may own all of it; undefined if
 * unknown.
 */
export function networkOf(address: string | undefined): string | undefined {
  if (address === undefined || address === "") return undefined;
  const plain = unmapped(address);
  return !isIPv6(plain) || isLoopback(plain) ? plain : `${ipv6Prefix(plain)}::/64`;
}
