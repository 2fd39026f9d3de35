/** Detects cross-site requests that change something (CSRF). */
import { parseAuthority } from "./host.ts";
import { isAllowedOrigin } from "../../src/kernel/listen/headers/cors.ts";

/** `host` is its `Host` or `:authority`. */
export interface Provenance {
  readonly method: string;
  readonly host: string;
  readonly origin: string | undefined;
  readonly fetchSite: string | undefined;
}

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Whether a request changes something and comes from a page of another origin that is not in
 * `allowedOrigins`.
 */
export function isCrossSite(request: Provenance, allowedOrigins: readonly string[]): boolean {
  if (READING.has(request.method)) return false;
  const { origin, fetchSite } = request;
  if (origin !== undefined && isAllowedOrigin(origin, allowedOrigins)) return false;
  if (fetchSite !== undefined && fetchSite !== "same-origin" && fetchSite !== "none") return true;
  return origin !== undefined && !isSameHost(origin, request.host);
}

// The scheme is ignored: behind a proxy that terminates TLS the page is https and the listener is
// not.
function isSameHost(origin: string, host: string): boolean {
  const match = /^(https?):\/\/(.+)$/.exec(origin);
  const page = match === null ? undefined : parseAuthority(match[2] ?? "");
  const asked = parseAuthority(host);
  if (page === undefined || asked === undefined || page.host !== asked.host) return false;
  const usual = match?.[1] === "https" ? "443" : "80";
  return (page.port === "" ? usual : page.port) === (asked.port === "" ? usual : asked.port);
}
