/**
 * Cross-origin reading (WHATWG Fetch §3.3): which pages of other origins a browser lets use the
 * document service. Off unless `gateway.cors.allowed_origins` names some, and never for the admin
 * API, pages and tokens.
 */
import type { RequestHead } from "./authorize.ts";
import { isAllowedOrigin } from "./cross-site.ts";

/** What CORS says to one request. Header names are lower case. */
export interface CorsDecision {
  /** For the answer, whatever it is: an error without them cannot be read by the page. */
  readonly headers: Readonly<Record<string, string>>;
  /** A browser asks before it sends: answer 204 with these headers and nothing else. */
  readonly preflight: boolean;
}

const REST_HEADERS = "Content-Type, Authorization, traceparent, tracestate";
// What Connect's and gRPC-Web's own browser clients send; without them no call would pass.
const RPC_HEADERS = `${REST_HEADERS}, Connect-Protocol-Version, Connect-Timeout-Ms, Grpc-Timeout, X-Grpc-Web, X-User-Agent`;
const NOTHING: CorsDecision = { headers: {}, preflight: false };

/** The decision for requests, by the list of origins. */
export function createCors(
  allowedOrigins: readonly string[],
): (request: RequestHead) => CorsDecision {
  if (allowedOrigins.length === 0) return () => NOTHING;
  const all = allowedOrigins.includes("*");
  return (request) => {
    const rpc = request.path.startsWith("/steward.dedup.");
    if (!rpc && !request.path.startsWith("/api/v1/")) return NOTHING;
    const { origin } = request.headers;
    // Whoever keeps the answer must not give it to a page of another origin.
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
