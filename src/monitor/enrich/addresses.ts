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

function readEndpoint(text: string, hostOf: EndpointReader["host"]): Endpoint | undefined {
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
  if (isIPv4(text)) return { kind: "ipv4", address: text, overlay: OVERLAY_IPV4.test(text) };
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
  return { kind: "ipv4", address: inner, overlay: OVERLAY_IPV4.test(inner) };
}
