/** Base URLs of the platform's API: validation and path joining. */
import { logicalError, occurred } from "../logical/occurred.ts";
import { isForbiddenHost } from "./forbidden-hosts.ts";

export const DEFAULT_BASE_URL = "https://api.github.com";

/** A parsed base URL. */
export interface Base {
  readonly url: URL;
  readonly origin: string;
  /** Path of the API with a trailing slash, e.g. `/api/v3/`. */
  readonly prefix: string;
}

/** Throws `invalid` for an address that must not be called. Names are checked when connecting. */
export function assertCallable({ url }: Base): void {
  if (!isForbiddenHost(url.hostname)) return;
  throw logicalError(
    occurred(
      "unable to use base URL: its host is a link-local address or the metadata service of a cloud; give the address of the platform's API, or set tokens.allow_link_local_base_url in the configuration of Steward",
    ),
    { field: "base_url", rule: "forbidden_address" },
  );
}

/** Whether two URLs have the same origin; false if either is invalid. */
export function haveSameOrigin(one: string, other: string): boolean {
  const origins = [one, other].map((text) => URL.parse(text.trim())?.origin);
  return origins[0] !== undefined && origins[0] !== "null" && origins[0] === origins[1];
}

/** Throws `invalid`. A path is kept (`https://HOST/api/v3`), with or without a trailing slash. */
export function parseBaseUrl(text: string): Base {
  const url = URL.parse(text.trim());
  const refuse = (why: string): Error =>
    logicalError(
      occurred(
        `unable to parse base URL: ${why}; give scheme, host and at most a path, e.g. ${DEFAULT_BASE_URL} or https://HOST/api/v3`,
      ),
      { field: "base_url", rule: "base_url" },
    );
  if (text.trim() === "") throw refuse("it is empty");
  if (url === null || text.trim().length > 2_048) throw refuse("it is not an absolute URL");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw refuse("its scheme is neither https nor http");
  if (url.username !== "" || url.password !== "") throw refuse("it holds a user or a password");
  if (url.search !== "" || url.hash !== "") throw refuse("it holds a query or a fragment");
  const prefix = url.pathname.endsWith("/") ? url.pathname : `${url.pathname}/`;
  return { url: new URL(prefix, url), origin: url.origin, prefix };
}

/** Warnings about an accepted URL. */
export function baseUrlWarnings(base: Base): readonly string[] {
  const { protocol, hostname } = base.url;
  if (
    protocol === "https:" ||
    hostname === "localhost" ||
    hostname.endsWith(".localhost") ||
    /^(127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname)
  )
    return [];
  return ["base_url is not https: tokens travel in clear"];
}
