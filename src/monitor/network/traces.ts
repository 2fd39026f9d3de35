/** Spans of a network: a trace per collector run, with a child span per control plane call. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { CallReport } from "../../kernel/client/types.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import type { Tracing } from "../../kernel/telemetry/tracing/tracing.ts";
import type { MonitorOptions, NetworkOptions } from "../options.ts";
import type { RunOutcome } from "../runner/collector-runner.ts";
import { failureWord } from "../runner/failure-class.ts";

export interface NetworkTraces {
  run(collector: string, run: () => Promise<RunOutcome>): Promise<RunOutcome>;
  /** `measure` writes the call's metrics inside the span. */
  called(report: CallReport, measure: () => void): void;
}

/** Traces are exported under the network's scope. */
export type OpenTraces = (scope: Scope, options: NetworkOptions) => NetworkTraces;

/** Used when tracing is off. */
export const noTraces: NetworkTraces = {
  run: (_collector, run) => run(),
  called: (_report, measure) => measure(),
};

export interface TracesDeps {
  readonly clock: Pick<Clock, "now">;
  readonly privacy: Pick<MonitorOptions["privacy"], "endpoint_paths">;
  readonly tracing: Pick<Tracing, "work" | "called">;
}

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
          // Endpoint paths hidden by the privacy filter are hidden in spans too.
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
