/**
 * The client's address. Headers of proxies count only where the peer of the connection is a trusted
 * proxy (`gateway.trusted_proxies`): anybody else could send any address.
 */
import { BlockList, isIP } from "node:net";
import { ipv6Prefix, unmapped } from "../../src/kernel/base/ip-address.ts";
import { isLoopback } from "../../src/kernel/config/values/address.ts";
import type { RequestHeaders } from "../../src/kernel/service.ts";

/** Addresses of trusted proxies. */
export interface TrustedProxies {
  has(address: string): boolean;
}

/** More hops than any proxy chain has; hops before them are ignored. */
const MAX_HOPS = 32;
const FORWARDING_HEADER = /^(forwarded|x-forwarded-.+|x-real-ip|via)$/;

/**
 * From addresses and networks in CIDR notation. Throws a `TypeError` or `RangeError` that does not
 * contain the input otherwise.
 */
export function createTrustedProxies(entries: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix] = entry.split("/");
    const family = isIP(address) === 6 ? "ipv6" : "ipv4";
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return {
    has: (address) =>
      entries.length > 0 &&
      isIP(address) !== 0 &&
      list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4"),
  };
}

/**
 * The client's address: the peer of the connection or, where that is a trusted proxy, the last
 * untrusted address of `X-Forwarded-For`, else of `Forwarded` (RFC 7239). An invalid hop ends the
 * search.
 */
export function clientAddress(
  peer: string,
  headers: RequestHeaders,
  trusted: TrustedProxies,
): string {
  let client = plainAddress(peer);
  if (!trusted.has(client)) return client;
  for (const hop of hopsOf(headers)) {
    const address = plainAddress(hop);
    if (isIP(address) === 0) return client;
    client = address;
    if (!trusted.has(client)) return client;
  }
  return client;
}

/** Whether a proxy says that it forwarded the request. */
export function isForwarded(headers: RequestHeaders): boolean {
  for (const name in headers) if (FORWARDING_HEADER.test(name)) return true;
  return false;
}

/**
 * The key of per-address limits: the IPv4 address or the /64 of an IPv6 one. Undefined for this
 * machine's own addresses and for trusted proxies that send no client address: many clients share
 * those.
 */
export function countedAddress(client: string, trusted: TrustedProxies): string | undefined {
  if (client === "" || isLoopback(client) || trusted.has(client)) return undefined;
  return isIP(client) === 6 ? ipv6Prefix(client) : client;
}

/** Last hop first. */
function hopsOf(headers: RequestHeaders): string[] {
  const forwardedFor = joined(headers["x-forwarded-for"]);
  const hops =
    forwardedFor === undefined
      ? forwardedHops(joined(headers["forwarded"]) ?? "")
      : forwardedFor.split(",").map((hop) => hop.trim());
  return hops.slice(-MAX_HOPS).toReversed();
}

/** A hop without an address is invalid: hops before it are not trusted. */
function forwardedHops(header: string): string[] {
  if (header === "") return [];
  return header.split(",").map((element) => {
    const pair = element
      .split(";")
      .map((part) => part.trim())
      .find((part) => /^for=/i.test(part));
    return (pair ?? "").slice("for=".length).replaceAll('"', "");
  });
}

/** Without port, brackets and the prefix of IPv4-mapped IPv6. */
function plainAddress(hop: string): string {
  const bare =
    /^\[([^\]]*)\](?::\d{1,5})?$/.exec(hop)?.[1] ??
    /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(hop)?.[1] ??
    hop;
  return unmapped(bare);
}

function joined(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === "string" ? header : header?.join(",");
}
