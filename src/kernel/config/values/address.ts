/** Parses and formats listen addresses, and tells which are loopback. */
import { isIP } from "node:net";

/** An empty host means every interface; port 0 lets the system choose. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Parses `127.0.0.1:8400`, `[::1]:0`, `localhost:8400`, `:8400`; undefined for anything else. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  if (match === null || Number(match[3]) > 65_535) return undefined;
  const [, bracketed, plain] = match;
  if (bracketed !== undefined && isIP(bracketed.replace(/%[\w.-]+$/, "")) !== 6) return undefined;
  if (bracketed === undefined && plain !== "" && !isHostName(plain ?? "")) return undefined;
  return { host: bracketed ?? plain ?? "", port: Number(match[3]) };
}

/** Inverse of `parseAddress`. */
export function formatAddress(address: Address): string {
  return `${address.host.includes(":") ? `[${address.host}]` : address.host}:${address.port}`;
}

/** Whether a bind to this host is reachable from this machine only. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith("127.");
  return host === "::1" || host.toLowerCase() === "localhost";
}

// Otherwise digits and dots that are not an IPv4 address, e.g. 127.0.0.300, would pass as a name.
function isHostName(text: string): boolean {
  if (/^[\d.]+$/.test(text)) return isIP(text) === 4;
  return text.length <= 253 && /^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/.test(text);
}
