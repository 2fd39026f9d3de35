/** The platform's app API: calls authenticated by the app's JWT, and token revocation. */
import type { Clock } from "../../../kernel/base/clock.ts";
import { byLink } from "../../../kernel/client/call/list.ts";
import { sameOrigin } from "../../../kernel/client/http/url.ts";
import type { AppJwt } from "../app-jwt.ts";
import type { Base } from "../base-url.ts";
import { type BodySink, wholeBody } from "./body.ts";
import { jwtRefusal } from "./failures.ts";
import type { Http, HttpCall, HttpLost, HttpReply } from "./http.ts";
import { createMintBody, type MintBody } from "./mint-body.ts";

/** API version of the responses. */
const API_VERSION = "2022-11-28";

/** Limit of response bodies other than a mint's. */
const MAX_BYTES = 8 * 1024 * 1024;

const MAX_REDIRECTS = 3;

export interface PlatformDeps {
  readonly http: Http;
  readonly clock: Clock;
  /** E.g. `steward/0.1.0`. */
  readonly userAgent: string;
}

/** The response to a GET, with its final URL. */
interface Read {
  readonly outcome: HttpReply | HttpLost;
  /** The next page, always on the same origin. */
  readonly next: URL | undefined;
}

/** The response to a mint. */
interface Minted {
  readonly outcome: HttpReply | HttpLost;
  /** The token found so far, even in a truncated or invalid body. */
  readonly token: () => string | undefined;
}

/** Calls of one app at one base URL. Failures are values; nothing rejects. */
export interface Platform {
  /**
   * Sends once, and again only after a JWT rejection that a new signature may fix (it created
   * nothing). Continues when the caller disconnects.
   */
  mint(path: string, body: string, options: { readonly namesOnly: boolean }): Promise<Minted>;
  /**
   * GETs, following redirects on the same origin. `path` is below the base; a URL is a page named
   * by an earlier response.
   */
  get(path: string | URL, signal: AbortSignal): Promise<Read>;
}

type AppCall = Omit<HttpCall, "headers" | "sink" | "origin">;

export function createPlatform(deps: PlatformDeps, base: Base, jwt: AppJwt): Platform {
  async function asApp(
    call: AppCall,
    sink: () => BodySink = () => wholeBody(MAX_BYTES),
  ): Promise<HttpReply | HttpLost> {
    const authorization = jwt.authorization();
    const first = await once(call, authorization, sink());
    const refusal = first.lost === undefined ? jwtRefusal(first) : undefined;
    if (first.lost !== undefined || refusal === undefined) return first;
    const mended =
      refusal === "issuer"
        ? jwt.issuerRefused(authorization)
        : jwt.clockRefused(authorization, {
            date: first.headers["date"],
            sentAtMs: first.sentAtMs,
          });
    return mended ? once(call, jwt.authorization(), sink()) : first;
  }

  async function once(
    call: AppCall,
    authorization: string,
    sink: BodySink,
  ): Promise<HttpReply | HttpLost> {
    const headers = {
      ...fixedHeaders(deps.userAgent),
      authorization,
      ...(call.body === undefined ? {} : { "content-type": "application/json" }),
    };
    const outcome = await deps.http.send({ ...call, origin: base.origin, headers, sink });
    if (outcome.lost === undefined) jwt.answered(outcome.headers["date"], outcome.sentAtMs);
    return outcome;
  }

  return {
    async mint(path, body, options) {
      let received: MintBody | undefined;
      const outcome = await asApp(
        { method: "POST", path: base.prefix + path, body },
        () => (received = createMintBody(options)),
      );
      return { outcome, token: () => received?.token() };
    },
    async get(path, signal) {
      let url = typeof path === "string" ? new URL(path, base.url) : path;
      for (let hop = 0; ; hop++) {
        const outcome = await asApp({ method: "GET", path: url.pathname + url.search, signal });
        if (outcome.lost !== undefined) return { outcome, next: undefined };
        const target =
          [301, 302, 307, 308].includes(outcome.status) && hop < MAX_REDIRECTS
            ? outcome.headers["location"]
            : undefined;
        const address = target === undefined ? undefined : sameOrigin(url, target);
        if (address === undefined) return { outcome, next: nextPage(url, outcome) };
        url = address;
      }
    },
  };
}

/** One request to revoke a token, authenticated by itself; `revokeToken` interprets the answer. */
export function sendRevocation(
  deps: PlatformDeps,
  base: Base,
  token: string,
  signal?: AbortSignal,
): Promise<HttpReply | HttpLost> {
  const headers = { ...fixedHeaders(deps.userAgent), authorization: `Bearer ${token}` };
  return deps.http.send({
    method: "DELETE",
    origin: base.origin,
    path: `${base.prefix}installation/token`,
    headers,
    sink: wholeBody(MAX_BYTES),
    ...(signal === undefined ? {} : { signal }),
  });
}

/** The quota of a token's installation, asked with the token itself. Costs no call of the quota. */
export function readRateLimit(
  deps: PlatformDeps,
  base: Base,
  token: string,
): Promise<HttpReply | HttpLost> {
  const headers = { ...fixedHeaders(deps.userAgent), authorization: `Bearer ${token}` };
  const path = `${base.prefix}rate_limit`;
  const sink = wholeBody(MAX_BYTES);
  return deps.http.send({ method: "GET", origin: base.origin, path, headers, sink });
}

function fixedHeaders(userAgent: string): Record<string, string> {
  return {
    accept: "application/vnd.github+json",
    "user-agent": userAgent,
    "x-github-api-version": API_VERSION,
  };
}

// A server behind another name links to that name. Only the query is used, so that the app's JWT is
// never sent elsewhere.
function nextPage(from: URL, reply: HttpReply): URL | undefined {
  const next = byLink({ number: 1, elements: 0, beside: new Map(), headers: reply.headers });
  if (next === undefined || !("link" in next)) return undefined;
  const same = sameOrigin(from, next.link);
  if (same !== undefined) return same;
  const there = URL.parse(next.link, from.href);
  if (there === null || there.search === from.search) return undefined;
  const here = new URL(from);
  here.search = there.search;
  return here;
}
