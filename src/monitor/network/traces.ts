/**
 * Spans of a network: a trace for each run of a collector, with one span for each call of the
 * control plane below it.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import type { CallReport } from "../../kernel/client/types.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import type { Tracing } from "../../kernel/telemetry/tracing.ts";
import type { MonitorOptions, NetworkOptions } from "../options.ts";
import type { RunOutcome } from "../runner/collector-runner.ts";
import { failureWord } from "../runner/failure-class.ts";

/** Traces what a network does. */
export interface NetworkTraces {
  run(collector: string, run: () => Promise<RunOutcome>): Promise<RunOutcome>;
  /** `measure` writes what metrics say of the call. */
  called(report: CallReport, measure: () => void): void;
}

/** Makes the traces of a network, which are exported under its scope. */
export type OpenTraces = (scope: Scope, options: NetworkOptions) => NetworkTraces;

/** Nothing is traced. */
export const noTraces: NetworkTraces = {
  run: (_collector, run) => run(),
  called: (_report, measure) => measure(),
};

/** How traces are made. */
export interface TracesDeps {
  readonly clock: Pick<Clock, "now">;
  readonly privacy: Pick<MonitorOptions["privacy"], "endpoint_paths">;
  readonly tracing: Pick<Tracing, "work" | "called">;
}

/** Traces of a network of a control plane of that kind. */
export function createTraces(
  { clock, privacy, tracing }: TracesDeps,
  kind: NetworkOptions["provider"]["kind"],
): NetworkTraces {
  return {
    run: (collector, run) =>
      tracing.work(
        {
          name: `scrape ${collector}`,
          attributes: { "vpn.collector": collector },
          failed: ({ error }) => (error === undefined ? undefined : failureWord(error)),
        },
        run,
      ),
    called({ operation, status, class: failed, attempts, durationMs, waitedMs }, measure) {
      const endedMs = clock.now();
      tracing.called(
        {
          // What metrics must not say spans must not say either.
          name: privacy.endpoint_paths ? `${kind}.api ${operation}` : `${kind}.api`,
          attributes: {
            ...(privacy.endpoint_paths ? { endpoint: operation } : {}),
            ...(status === 0 ? {} : { "http.response.status_code": status }),
            ...(attempts > 1 ? { "http.request.resend_count": attempts - 1 } : {}),
          },
          beganMs: endedMs - durationMs - waitedMs,
          endedMs,
          failed,
        },
        measure,
      );
    },
  };
}
