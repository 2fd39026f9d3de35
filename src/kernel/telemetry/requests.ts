/**
 * What the house hears of requests it answers: how many, how they ended, how long they took, and
 * which trace they belong to.
 */
import type { Clock } from "../base/clock.ts";
import type { LogFields } from "../base/log.ts";
import {
  gatewayConnections,
  gatewayDuration,
  gatewayInFlight,
  gatewayRefused,
  gatewayRequests,
  gatewayStreams,
} from "./service-metrics.ts";
import type { Tracing } from "./tracing.ts";
import type { Scope } from "./types.ts";

/** The way a request speaks. */
export type RequestProtocol = "rest" | "connect" | "grpc" | "grpc-web";

/** A request whose head was read. */
export interface BegunRequest {
  readonly protocol: RequestProtocol;
  /**
   * The template of the route or the path of the rpc, never the path asked for: as many as there
   * are routes.
   */
  readonly route: string;
  /** The HTTP method, upper case. */
  readonly method: string;
  readonly requestId: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** How a request ended. */
export interface EndedRequest {
  /** The HTTP status, or for gRPC the name of its status: `200`, `not_found`. */
  readonly code: string;
  /** The house's own fault, not the client's. */
  readonly failed: boolean;
}

/** One request while it is answered. */
interface RequestWatch {
  /** What its own log lines carry beside the request id: `trace_id` while it is traced. */
  readonly fields: LogFields;
  /** Runs what answers it, so that log lines and spans below know where they belong. */
  run<T>(serve: () => T): T;
  /** Called once. */
  end(ended: EndedRequest): void;
}

/** Hears of every request of a gateway. */
export interface RequestObserver {
  begin(request: BegunRequest): RequestWatch;
  /**
   * A request that no handler saw, e.g. `unauthenticated`. Reasons are few and known beforehand.
   */
  refused(reason: string): void;
}

/** What an observer works with. */
export interface RequestObserverDeps {
  readonly scope: Scope;
  readonly clock: Clock;
  /** Makes a span of each request; none unless given. */
  readonly tracing?: Tracing;
}

/** Methods that count by their name; a client may send any word. */
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
      // An rpc has no other method than POST.
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

/** A port as far as it is reported. */
export interface ReportedPort {
  inFlight(): number;
  streams(): number;
  connections(): number;
  /** What the port itself turned away since it was made. */
  refused(): readonly {
    readonly reason: string;
    readonly share?: string;
    readonly count: number;
  }[];
}

/** Reports a port until disposed. */
export function reportPort(scope: Scope, port: ReportedPort): Disposable {
  return scope.observe(() => {
    scope.gauge(gatewayInFlight, port.inFlight(), {});
    scope.gauge(gatewayStreams, port.streams(), {});
    scope.gauge(gatewayConnections, port.connections(), {});
    for (const { reason, share, count } of port.refused())
      scope.total(gatewayRefused, count, { reason, share });
  });
}
