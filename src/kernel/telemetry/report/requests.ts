/** Metrics and spans of requests that the process serves. */
import type { Clock } from "../../base/clock.ts";
import type { LogFields } from "../../base/log.ts";
import {
  gatewayConnections,
  gatewayDuration,
  gatewayInFlight,
  gatewayRefused,
  gatewayRequests,
  gatewayStreams,
} from "./service-metrics.ts";
import type { BegunRequest, EndedRequest } from "../tracing/request-info.ts";
import type { Tracing } from "../tracing/tracing.ts";
import type { Scope } from "../types.ts";

/** A running request. */
interface RequestWatch {
  /** Fields of its log lines beside the request id: `trace_id` while it is traced. */
  readonly fields: LogFields;
  /** Runs the handler, so that log lines and spans inside belong to the request. */
  run<T>(serve: () => T): T;
  /** Call once. */
  end(ended: EndedRequest): void;
}

/** Observes every request of a gateway. */
export interface RequestObserver {
  begin(request: BegunRequest): RequestWatch;
  /** A request that no handler saw, e.g. `unauthenticated`. Reasons are few and fixed. */
  refused(reason: string): void;
}

export interface RequestObserverDeps {
  readonly scope: Scope;
  readonly clock: Clock;
  /** Creates a span per request; none if absent. */
  readonly tracing?: Tracing;
}

/** Methods reported by name; a client may send any token. */
const METHODS: ReadonlySet<string> = new Set([
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "DELETE",
  "OPTIONS",
  "PATCH",
  "LIST",
]);
const MILLISECONDS = 1_000;

/** Counts requests in a scope. */
export function createRequestObserver({
  scope,
  clock,
  tracing,
}: RequestObserverDeps): RequestObserver {
  return {
    begin(request) {
      const beganMs = clock.monotonic();
      const { route, protocol } = request;
      // Rpcs are always POST.
      const method =
        protocol !== "rest" ? undefined : METHODS.has(request.method) ? request.method : "other";
      const span = tracing?.begin(request);
      return {
        fields: span?.fields ?? {},
        run: (serve) => (span === undefined ? serve() : span.run(serve)),
        end(ended) {
          scope.add(gatewayRequests, 1, { route, method, protocol, code: ended.code });
          scope.record(gatewayDuration, (clock.monotonic() - beganMs) / MILLISECONDS, {
            route,
            method,
            protocol,
          });
          span?.end(ended);
        },
      };
    },
    refused: (reason) => scope.add(gatewayRefused, 1, { reason, share: undefined }),
  };
}

export interface ReportedPort {
  inFlight(): number;
  streams(): number;
  connections(): number;
  /** Connections and requests that the port itself refused since it was created. */
  refused(): readonly {
    readonly reason: string;
    readonly share?: string;
    readonly count: number;
  }[];
}

/** Until disposed. */
export function reportPort(scope: Scope, port: ReportedPort): Disposable {
  return scope.observe(() => {
    scope.gauge(gatewayInFlight, port.inFlight(), {});
    scope.gauge(gatewayStreams, port.streams(), {});
    scope.gauge(gatewayConnections, port.connections(), {});
    for (const { reason, share, count } of port.refused())
      scope.total(gatewayRefused, count, { reason, share });
  });
}
