/**
 * CORS (WHATWG Fetch §3.3): which origins may use the document service from a browser. Off unless
 * `gateway.cors.allowed_origins` names some, and never for the admin API, pages and tokens.
 */
import type { RequestHead } from "./authorize.ts";
import {
  exposedHeaders,
  isAllowedOrigin,
  isPreflight,
  originHeaders,
  preflightHeaders,
  VARY_ORIGIN,
} from "../../src/kernel/listen/headers/cors.ts";

/** Header names are lower case. */
export interface CorsDecision {
  /** For every response: without them a page cannot read an error. */
  readonly headers: Readonly<Record<string, string>>;
  /** A preflight request: answer 204 with these headers. */
  readonly preflight: boolean;
}

const METHODS = ["GET", "POST", "PUT", "DELETE", "OPTIONS"];
const REST_HEADERS = ["Content-Type", "Authorization", "traceparent", "tracestate"];
// Headers sent by Connect's and gRPC-Web's browser clients.
const RPC_HEADERS = [
  ...REST_HEADERS,
  "Connect-Protocol-Version",
  "Connect-Timeout-Ms",
  "Grpc-Timeout",
  "X-Grpc-Web",
  "X-User-Agent",
];
const EXPOSED = ["Retry-After"];
const RPC_EXPOSED = [...EXPOSED, "Grpc-Status", "Grpc-Message", "Grpc-Status-Details-Bin"];
const MAX_AGE_SECONDS = 86_400;
const NOTHING: CorsDecision = { headers: {}, preflight: false };

/** By the list of origins. */
export function createCors(
  allowedOrigins: readonly string[],
): (request: RequestHead) => CorsDecision {
  if (allowedOrigins.length === 0) return () => NOTHING;
  const all = allowedOrigins.includes("*");
  return (request) => {
    const rpc = request.path.startsWith("/steward.dedup.");
    if (!rpc && !request.path.startsWith("/api/v1/")) return NOTHING;
    const { origin } = request.headers;
    const vary = all ? {} : VARY_ORIGIN;
    if (typeof origin !== "string" || !isAllowedOrigin(origin, allowedOrigins))
      return { headers: vary, preflight: false };
    const allow = originHeaders(all ? "*" : origin);
    const preflight = isPreflight(request);
    const headers = preflight
      ? preflightHeaders({
          methods: METHODS,
          headers: rpc ? RPC_HEADERS : REST_HEADERS,
          maxAgeSeconds: MAX_AGE_SECONDS,
        })
      : exposedHeaders(rpc ? RPC_EXPOSED : EXPOSED);
    return { headers: { ...allow, ...headers }, preflight };
  };
}
