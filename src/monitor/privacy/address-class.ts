/** Classifies addresses by privacy category. */
import { BlockList, isIP, isIPv4 } from "node:net";
import { isOverlayAddress } from "../../kernel/base/ip-address.ts";

export type AddressCategory = "vpn_ips" | "internal_ips" | "external_ips";

export const addressCategories: readonly AddressCategory[] = [
  "vpn_ips",
  "internal_ips",
  "external_ips",
];

/** Loopback, link-local, RFC 1918 and unique local addresses. */
const internal = ranges([
  ["127.0.0.0", 8, "ipv4"],
  ["169.254.0.0", 16, "ipv4"],
  ["10.0.0.0", 8, "ipv4"],
  ["172.16.0.0", 12, "ipv4"],
  ["192.168.0.0", 16, "ipv4"],
  ["::1", 128, "ipv6"],
  ["fe80::", 10, "ipv6"],
  ["fc00::", 7, "ipv6"],
]);

/** Longest text parsed as an address with zone and port. */
const MAX_LENGTH = 128;

/**
 * Category of an address, with or without a port (`10.0.0.1:22`, `[fe80::1%eth0]:22`); undefined
 * for other texts.
 */
export function addressCategory(value: string): AddressCategory | undefined {
  const address = addressIn(value);
  if (address === undefined) return undefined;
  const family = isIPv4(address) ? "ipv4" : "ipv6";
  if (isOverlayAddress(address, family)) return "vpn_ips";
  return internal.check(address, family) ? "internal_ips" : "external_ips";
}

/** The address in a text, without brackets, zone and port. */
function addressIn(value: string): string | undefined {
  if (value.length > MAX_LENGTH || !(value.includes(".") || value.includes(":"))) return undefined;
  const text = value.trim();
  const whole = withoutZone(text);
  if (isIP(whole) !== 0) return whole;
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1];
  const host = withoutZone(bracketed ?? /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? "");
  return isIP(host) === 0 ? undefined : host;
}

function withoutZone(text: string): string {
  const zone = text.indexOf("%");
  return zone < 0 ? text : text.slice(0, zone);
}

function ranges(
  subnets: readonly (readonly [network: string, prefix: number, family: "ipv4" | "ipv6"])[],
): BlockList {
  const list = new BlockList();
  for (const [network, prefix, family] of subnets) list.addSubnet(network, prefix, family);
  return list;
}
