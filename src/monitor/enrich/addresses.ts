/**
 * Addresses as flow records write them: `host:port` taken apart, hosts in one spelling, and the
 * ranges that mean something here.
 */
import { isIPv4, isIPv6 } from "node:net";

/** What a host's text says. */
export interface Host {
  readonly kind: "ipv4" | "ipv6" | "name";
  /**
   * One spelling for each address: IPv6 compressed and in lower case, an IPv4 address inside IPv6
   * as IPv4.
   */
  readonly address: string;
  /** In a range of the private network itself: 100.64.0.0/10 or fd7a:115c:a1e0::/48. */
  readonly overlay: boolean;
}

/** One end of a connection. */
export interface Endpoint {
  readonly host: Host;
  /** 0..65535; 0 means that it is not known. */
  readonly port: number;
}

/** Reads endpoints, and remembers hosts. */
export interface EndpointReader {
  /**
   * Undefined when the text is no `host:port`: a host is an address or labels of RFC 1123, IPv6
   * stands in brackets, a port is digits.
   */
  read(text: string): Endpoint | undefined;
  /** A host without a port. */
  host(text: string): Host | undefined;
}

/**
 * Hosts remembered; when they are more, all are forgotten, for looking at one again costs little.
 */
const MOST_HOSTS = 8_192;
const NAME =
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/;
const OVERLAY_IPV4 = /^100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./;
const OVERLAY_IPV6 = "fd7a:115c:a1e0:";
const MAPPED = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;
const ZERO = 48;
const NINE = 57;

/** A reader with nothing remembered yet. */
export function createEndpointReader(): EndpointReader {
  const hosts = new Map<string, Host | undefined>();
  const host = (text: string): Host | undefined => {
    const known = hosts.get(text);
    if (known !== undefined || hosts.has(text)) return known;
    if (hosts.size >= MOST_HOSTS) hosts.clear();
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
  // The zone says which interface of the reporter, which is not part of the address.
  const [bare = text] = text.split("%", 1);
  const address = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const [, high, low] = MAPPED.exec(address) ?? [];
  if (high === undefined || low === undefined)
    return { kind: "ipv6", address, overlay: address.startsWith(OVERLAY_IPV6) };
  const [first, second] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  const inner = `${first >> 8}.${first & 255}.${second >> 8}.${second & 255}`;
  return { kind: "ipv4", address: inner, overlay: OVERLAY_IPV4.test(inner) };
}
