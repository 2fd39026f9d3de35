/** Headers of cross-origin answers (WHATWG Fetch, "HTTP-CORS protocol"). Names are lower case. */

type CorsHeaders = Readonly<Record<string, string>>;

/** What pages of other origins may send. */
export interface CorsPolicy {
  readonly methods: readonly string[];
  readonly headers: readonly string[];
  /** How long a browser may keep the answer to a preflight request. */
  readonly maxAgeSeconds: number;
}

/** Whether an `Origin` is in the list, in any case, or the list contains `*`. */
export function isAllowedOrigin(origin: string, allowedOrigins: readonly string[]): boolean {
  const asked = origin.toLowerCase();
  return allowedOrigins.some((allowed) => allowed === "*" || allowed.toLowerCase() === asked);
}

/** Lets the origin read the answer, and keeps caches from giving that to another one. */
export function originHeaders(origin: string): CorsHeaders {
  return { "access-control-allow-origin": origin, ...(origin === "*" ? {} : VARY_ORIGIN) };
}

/** For answers that would differ for another origin. */
export const VARY_ORIGIN: CorsHeaders = { vary: "Origin" };

export function isPreflight(request: {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}): boolean {
  return (
    request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined
  );
}

/** Beside `originHeaders`, of the answer to a preflight request. */
export function preflightHeaders({ methods, headers, maxAgeSeconds }: CorsPolicy): CorsHeaders {
  return {
    "access-control-allow-methods": methods.join(", "),
    "access-control-allow-headers": headers.join(", "),
    "access-control-max-age": String(maxAgeSeconds),
  };
}

/** Response headers that a page may read beside the usual ones. */
export function exposedHeaders(names: readonly string[]): CorsHeaders {
  return names.length === 0 ? {} : { "access-control-expose-headers": names.join(", ") };
}
