/** Addresses of the platform's API: which are taken, and how paths are put behind them. */
import { logicalError, occurred } from "../logical/occurred.ts";

/** Where the platform is unless a configuration says otherwise. */
export const DEFAULT_BASE_URL = "https://api.github.com";

/** An address ready for calls. */
export interface Base {
  readonly url: URL;
  readonly origin: string;
  /** Path of the API with a slash at its end, e.g. `/api/v3/`. */
  readonly prefix: string;
}

/** Reads an address. Throws `invalid`. A path is kept (`https://HOST/api/v3`), with or without a slash at its end. */
export function parseBaseUrl(text: string): Base {
  const url = URL.parse(text.trim());
  const refuse = (why: string): Error => logicalError(occurred(`unable to parse base URL: ${why}; give scheme, host and at most a path, e.g. ${DEFAULT_BASE_URL} or https://HOST/api/v3`), { field: "base_url", rule: "base_url" });
  if (text.trim() === "") throw refuse("it is empty");
  if (url === null || text.trim().length > 2_048) throw refuse("it is no absolute URL");
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refuse("its scheme is neither https nor http");
  if (url.username !== "" || url.password !== "") throw refuse("it holds a user or a password");
  if (url.search !== "" || url.hash !== "") throw refuse("it holds a query or a fragment");
  const prefix = url.pathname.endsWith("/") ? url.pathname : `${url.pathname}/`;
  return { url: new URL(prefix, url), origin: url.origin, prefix };
}

/** What to say about an address that is taken. */
export function baseUrlWarnings(base: Base): readonly string[] {
  const { protocol, hostname } = base.url;
  if (protocol === "https:" || hostname === "localhost" || hostname.endsWith(".localhost") || /^(127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)) return [];
  return ["base_url is not https: tokens travel in clear"];
}
