/**
 * Reports each request: route, protocol, result and duration. Values that a client may choose
 * freely never become labels.
 */
import type { Code as RpcCode } from "@connectrpc/connect";
import type { Clock } from "../src/kernel/base/clock.ts";
import type { Log } from "../src/kernel/base/log.ts";
import {
  streamOf,
  type ServerRequest,
  type ServerResponse,
} from "../src/kernel/listen/exchange.ts";
import type { RequestObserver } from "../src/kernel/telemetry/report/requests.ts";
import type { EndedRequest, RequestProtocol } from "../src/kernel/telemetry/tracing/request-info.ts";
import type { MethodTable } from "./methods.ts";

export interface WatchDeps {
  readonly table: MethodTable;
  /** Paths of all rpcs: `/steward.dedup.v1.JobService/GetJob`. */
  readonly rpcPaths: ReadonlySet<string>;
  readonly ownsRpc: (path: string) => boolean;
  readonly log: Log;
  readonly clock: Clock;
  readonly observe: RequestObserver | undefined;
}

export interface Watch {
  /** Runs `serve`; the request ends when the response is complete. */
  run(
    request: ServerRequest,
    response: ServerResponse,
    requestId: string,
    serve: () => Promise<void>,
  ): Promise<void>;
  /** An rpc of this response failed with that code, which its protocol shows only in the body. */
  failed(response: ServerResponse, code: RpcCode): void;
}

/** Route label for unknown routes. */
const NO_ROUTE = "(none)";
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);
/** By number, as gRPC and Connect share them. */
const RPC_NAMES: readonly string[] = [
  "ok",
  "canceled",
  "unknown",
  "invalid_argument",
  "deadline_exceeded",
  "not_found",
  "already_exists",
  "permission_denied",
  "resource_exhausted",
  "failed_precondition",
  "aborted",
  "out_of_range",
  "unimplemented",
  "internal",
  "unavailable",
  "data_loss",
  "unauthenticated",
];
/**
 * unknown, deadline_exceeded, internal, unavailable, data_loss: OpenTelemetry's server errors,
 * without `unimplemented`, which any client may cause.
 */
const RPC_FAULTS: ReadonlySet<number> = new Set([2, 4, 13, 14, 15]);
/** The client disconnected before its response was complete; never sent. */
const GONE = "gone";

/** Without an observer it only writes the request's log line. */
export function createWatch(deps: WatchDeps): Watch {
  const { clock, log, observe } = deps;
  const failures = new WeakMap<ServerResponse, RpcCode>();
  return {
    async run(request, response, requestId, serve) {
      const beganMs = clock.monotonic();
      const method = request.method ?? "GET";
      const path = request.url?.split("?", 1)[0] ?? "";
      const protocol = protocolOf(deps, request, path);
      const watch = observe?.begin({
        protocol,
        method,
        route: routeOf(deps, protocol, method, path),
        requestId,
        headers: request.headers,
      });
      response.once("close", () => {
        watch?.end(outcome(protocol, request, response, failures.get(response)));
        log.debug("request", {
          method: request.method,
          path,
          status: response.statusCode,
          ms: Math.round(clock.monotonic() - beganMs),
          request_id: requestId,
          ...watch?.fields,
        });
      });
      await (watch === undefined ? serve() : watch.run(serve));
    },
    failed: (response, code) => void failures.set(response, code),
  };
}

function protocolOf({ ownsRpc }: WatchDeps, request: ServerRequest, path: string): RequestProtocol {
  if (!ownsRpc(path)) return "rest";
  const type = request.headers["content-type"] ?? "";
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  return type.startsWith("application/grpc") ? "grpc" : "connect";
}

function routeOf(
  { table, rpcPaths }: WatchDeps,
  protocol: RequestProtocol,
  method: string,
  path: string,
): string {
  if (protocol !== "rest") return rpcPaths.has(path) ? path : NO_ROUTE;
  if (PROBES.has(path)) return path;
  const match = table.match(method, path);
  return match.kind === "found" ? match.route.template.text : NO_ROUTE;
}

function outcome(
  protocol: RequestProtocol,
  request: ServerRequest,
  response: ServerResponse,
  failure: RpcCode | undefined,
): EndedRequest {
  if (!response.headersSent) return { code: GONE, failed: false };
  const { statusCode } = response;
  if (protocol === "rest" || statusCode !== 200)
    return { code: String(statusCode), failed: statusCode >= 500 };
  const status = failure ?? grpcStatus(request) ?? (response.writableFinished ? 0 : undefined);
  if (status === undefined) return { code: GONE, failed: false };
  return { code: RPC_NAMES[status] ?? "unknown", failed: RPC_FAULTS.has(status) };
}

/** The gRPC status: in the trailers, or in the head of a response without a body. */
function grpcStatus(request: ServerRequest): number | undefined {
  const stream = streamOf(request);
  const status = stream?.sentTrailers?.["grpc-status"] ?? stream?.sentHeaders?.["grpc-status"];
  return status === undefined ? undefined : Number(status);
}
