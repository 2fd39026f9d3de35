/**
 * Which proxy of the environment a request goes through, by the rules of Go's programs: `https`
 * goes only through HTTPS_PROXY, and what is on this machine through none.
 */
import { BlockList, isIP } from "node:net";
import { unmapped } from "../../../kernel/base/ip-address.ts";
import { isLoopback } from "../../../kernel/config/values/address.ts";

/** Proxy settings from the environment. */
export interface ProxyOptions {
  readonly http: string | undefined;
  readonly https: string | undefined;
  readonly none: string | undefined;
}

/**
 * Proxies from environment variables; lower case wins, as in other programs. An address without a
 * scheme is one of an HTTP proxy.
 */
export function proxyOf(environment: Readonly<Record<string, string | undefined>>): ProxyOptions {
  const read = (name: string): string | undefined =>
    environment[name.toLowerCase()] || environment[name] || undefined;
  const address = (name: string): string | undefined => {
    const text = read(name);
    return text === undefined || text.includes("://") ? text : `http://${text}`;
  };
  return { http: address("HTTP_PROXY"), https: address("HTTPS_PROXY"), none: read("NO_PROXY") };
}

/** The proxy's address for an origin's requests; undefined for none. */
export type ProxyFor = (origin: string) => string | undefined;

export function createProxyFor({ http, https, none = "" }: ProxyOptions): ProxyFor {
  const isException = exceptionsOf(none);
  return (origin) => {
    const url = new URL(origin);
    const proxy = url.protocol === "https:" ? https : http;
    if (proxy === undefined) return undefined;
    const host = unmapped(url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, ""));
    const port = url.port || (url.protocol === "https:" ? "443" : "80");
    return isLoopback(host) || isException(host, port) ? undefined : proxy;
  };
}

/** Whether a proxy's address is one that requests can go through. */
export function isProxyAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.hostname === "") return false;
  return ["http:", "https:", "socks5:"].includes(url.protocol) && isDecodable(url);
}

/** Variables whose proxy no request can go through; their values may hold passwords. */
export function unusableProxies({ http, https }: ProxyOptions): readonly string[] {
  return Object.entries({ HTTP_PROXY: http, HTTPS_PROXY: https }).flatMap(([name, address]) =>
    address === undefined || isProxyAddress(address) ? [] : [name],
  );
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username);
    decodeURIComponent(password);
    return true;
  } catch {
    return false;
  }
}

/**
 * NO_PROXY: `*`, networks, addresses, and names, which stand for the names below them, too
 * (`*.NAME`: only for those); addresses and names perhaps with a port.
 */
function exceptionsOf(none: string): (host: string, port: string) => boolean {
  const entries = none
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "");
  const networks = new BlockList();
  for (const entry of entries) addNetwork(networks, entry);
  const names = entries.map(hostAndPort);
  return (host, port) => {
    const family = isIP(host);
    if (family !== 0 && networks.check(host, family === 6 ? "ipv6" : "ipv4")) return true;
    return names.some((name) => (name.port ?? port) === port && isBelow(host, name.host));
  };
}

function addNetwork(networks: BlockList, entry: string): void {
  const [address = "", bits] = entry.replace(/^\[|\]$/g, "").split("/");
  const family = address.includes("%") ? 0 : isIP(address);
  const most = family === 6 ? 128 : 32;
  if (family === 0 || (bits !== undefined && !/^\d{1,3}$/.test(bits))) return;
  if (Number(bits ?? most) <= most)
    networks.addSubnet(address, Number(bits ?? most), family === 6 ? "ipv6" : "ipv4");
}

function hostAndPort(entry: string): { readonly host: string; readonly port: string | undefined } {
  const [, host = entry, port] = /^(\[[^\]]*\]|[^:]*):(\d+)$/.exec(entry) ?? [];
  return { host: host.replace(/^\[|\]$/g, "").replace(/\.$/, ""), port };
}

function isBelow(host: string, name: string): boolean {
  if (name === "*") return true;
  const suffix = `.${name.replace(/^\*?\./, "")}`;
  return host.endsWith(suffix) || (!name.startsWith("*") && `.${host}` === suffix);
}
