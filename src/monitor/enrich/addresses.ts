/**
 * Parses addresses of flow records: splits `host:port`, normalises hosts, and classifies address
 * ranges.
 */
import { isIPv4, isIPv6 } from "node:net";
import { mappedIpv4 } from "../../kernel/base/ip-address.ts";

/** A parsed host. */
export interface Host {
  readonly kind: "ipv4" | "ipv6" | "name";
  /** Normalised: IPv6 compressed in lower case, IPv4-mapped IPv6 as IPv4. */
  readonly address: string;
  /** In the overlay network's range: 100.64.0.0/10 or fd7a:115c:a1e0::/48. */
  readonly overlay: boolean;
}

export interface Endpoint {
  readonly host: Host;
  /** 0..65535; 0 means unknown. */
  readonly port: number;
}

/** Parses endpoints, with a cache of hosts. */
export interface EndpointReader {
  /**
   * Undefined unless the text is `host:port`: the host an IP address (IPv6 in brackets) or RFC 1123
   * labels, the port digits.
   */
  read(text: string): Endpoint | undefined;
  /** Parses a host without a port. */
  host(text: string): Host | undefined;
}

/** Hosts cached; the cache is cleared when full, since parsing is cheap. */
const MAX_HOSTS = 8_192;
const NAME =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;
const OVERLAY_IPV4 = /^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./;
const OVERLAY_IPV6 = "fd7a:115c:a1e0:";
const ZERO = 48;
const NINE = 57;
const DOT = 46;
const COLON = 58;

export function createEndpointReader(): EndpointReader {
  const hosts = new Map<string, Host | undefined>();
  const host = (text: string): Host | undefined => {
    const known = hosts.get(text);
    if (known !== undefined || hosts.has(text)) return known;
    if (hosts.size >= MAX_HOSTS) hosts.clear();
    const read = readHost(text);
    hosts.set(text, read);
    return read;
  };
  return { host, read: (text) => readEndpoint(text, host) };
}

/**
 * The end of a dotted IPv4 address without leading zeros at the begin of the text, 0 where there is
 * none: most endpoints begin with one, and this is cheaper than a cache.
 */
function ipv4End(text: string): number {
  let at = 0;
  for (let part = 0; part < 4; part += 1) {
    if (part > 0) {
      if (text.charCodeAt(at) !== DOT) return 0;
      at += 1;
    }
    const begin = at;
    let byte = 0;
    for (; at - begin < 4; at += 1) {
      const digit = text.charCodeAt(at) - ZERO;
      if (!(digit >= 0 && digit <= 9)) break;
      byte = byte * 10 + digit;
    }
    const digits = at - begin;
    if (digits === 0 || digits > 3 || byte > 255) return 0;
    if (digits > 1 && text.charCodeAt(begin) === ZERO) return 0;
  }
  return at;
}

function ipv4Host(address: string): Host {
  return { kind: "ipv4", address, overlay: OVERLAY_IPV4.test(address) };
}

function readEndpoint(text: string, hostOf: EndpointReader["host"]): Endpoint | undefined {
  const end = ipv4End(text);
  if (end > 0 && text.charCodeAt(end) === COLON) {
    const port = readPort(text, end + 1);
    return port === undefined ? undefined : { host: ipv4Host(text.slice(0, end)), port };
  }
  const bracketed = text.startsWith("[");
  const colon = bracketed ? text.indexOf("]:") + 1 : text.indexOf(":");
  if (colon <= 0) return undefined;
  const port = readPort(text, colon + 1);
  const host =
    port === undefined
      ? undefined
      : hostOf(bracketed ? text.slice(1, colon - 1) : text.slice(0, colon));
  if (host === undefined || port === undefined) return undefined;
  return bracketed && host.kind === "name" ? undefined : { host, port };
}

function readPort(text: string, from: number): number | undefined {
  if (text.length === from || text.length - from > 5) return undefined;
  let port = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < ZERO || code > NINE) return undefined;
    port = port * 10 + code - ZERO;
  }
  return port <= 65_535 ? port : undefined;
}

function readHost(text: string): Host | undefined {
  if (isIPv4(text)) return ipv4Host(text);
  if (isIPv6(text)) return readIpv6(text);
  return NAME.test(text)
    ? { kind: "name", address: text.toLowerCase(), overlay: false }
    : undefined;
}

function readIpv6(text: string): Host {
  // The zone is an interface of the reporter and not part of the address.
  const [bare = text] = text.split("%", 1);
  const inner = mappedIpv4(bare);
  if (inner === undefined) {
    const address = new URL(`http://[${bare}]`).hostname.slice(1, -1);
    return { kind: "ipv6", address, overlay: address.startsWith(OVERLAY_IPV6) };
  }
  return ipv4Host(inner);
}
