/**
 * CORS (WHATWG Fetch §3.3): which origins may use the document service from a browser. Off unless
 * `gateway.cors.allowed_origins` names some, and never for the admin API, pages and tokens.
 */
import type { RequestHead } from "./authorize.ts";
import { isAllowedOrigin } from "./cross-site.ts";

/** Header names are lower case. */
export interface CorsDecision {
  /** For every response: without them a page cannot read an error. */
  readonly headers: Readonly<Record<string, string>>;
  /** A preflight request: answer 204 with these headers. */
  readonly preflight: boolean;
}

const REST_HEADERS = "Content-Type, Authorization, traceparent, tracestate";
// Headers sent by Connect's and gRPC-Web's browser clients.
const RPC_HEADERS = `${REST_HEADERS}, Connect-Protocol-Version, Connect-Timeout-Ms, Grpc-Timeout, X-Grpc-Web, X-User-Agent`;
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
    // Caches must not give the response to a page of another origin.
    const vary: Record<string, string> = all ? {} : { vary: "Origin" };
    if (typeof origin !== "string" || !isAllowedOrigin(origin, allowedOrigins))
      return { headers: vary, preflight: false };
    const allow = { ...vary, "access-control-allow-origin": all ? "*" : origin };
    const asks =
      request.method === "OPTIONS" &&
      request.headers["access-control-request-method"] !== undefined;
    return asks
      ? { headers: { ...allow, ...preflightHeaders(rpc) }, preflight: true }
      : { headers: { ...allow, ...exposed(rpc) }, preflight: false };
  };
}

function preflightHeaders(rpc: boolean): Record<string, string> {
  return {
    "access-control-allow-methods": "GET, POST, PUT, DELETE, OPTIONS",
    "access-control-allow-headers": rpc ? RPC_HEADERS : REST_HEADERS,
    "access-control-max-age": "86400",
  };
}

function exposed(rpc: boolean): Record<string, string> {
  return rpc
    ? { "access-control-expose-headers": "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin" }
    : {};
}
