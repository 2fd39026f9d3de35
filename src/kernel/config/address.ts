/** Listen addresses: what they look like and which of them only this machine can reach. */
import { isIP } from "node:net";

/** Where to listen. An empty host means every interface; port 0 lets the system choose. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Reads `127.0.0.1:8400`, `[::1]:0`, `localhost:8400`, `:8400`; undefined when it is none of these.
 */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  if (match === null || Number(match[3]) > 65_535) return undefined;
  const [, bracketed, plain] = match;
  if (bracketed !== undefined && isIP(bracketed.replace(/%[\w.-]+$/, "")) !== 6) return undefined;
  if (bracketed === undefined && plain !== "" && !isHostName(plain ?? "")) return undefined;
  return { host: bracketed ?? plain ?? "", port: Number(match[3]) };
}

/** The form that `parseAddress` reads back. */
export function formatAddress(address: Address): string {
  return `${address.host.includes(":") ? `[${address.host}]` : address.host}:${address.port}`;
}

/** Whether a bind to this host can be reached from this machine alone. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith("127.");
  return host === "::1" || host.toLowerCase() === "localhost";
}

// Digits and dots that are no IPv4 address would otherwise pass as a name, e.g. 127.0.0.300.
function isHostName(text: string): boolean {
  if (/^[\d.]+$/.test(text)) return isIP(text) === 4;
  return text.length <= 253 && /^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$/.test(text);
}
