/** The tick of one run, and how its gauges end. */
import type { Clock } from "../../kernel/base/clock.ts";
import { failureOf } from "../../kernel/client/failure.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { stateOfError, type ApiState, type Operation } from "../capability/operation.ts";
import type { CapabilityTracker } from "../capability/tracker.ts";
import type { Tick } from "../collectors/collector.ts";

const FORBIDDEN = 403;

export interface RunTickDeps {
  readonly clock: Pick<Clock, "now">;
  readonly scope: Scope;
  readonly tracker: CapabilityTracker;
}

/** A run of a collector. */
export interface RunTick {
  readonly tick: Tick;
  /**
   * Ends the run: gauges not set again end with `commit` and stay with `abandon`. Later writes of
   * an abandoned run are ignored.
   */
  end(how: "commit" | "abandon"): void;
  /** Operations denied with 403, also for a single entity. */
  readonly denied: ReadonlySet<string>;
}

/** Begins a run; writes of an earlier unfinished one are ignored from now on. */
export function beginTick(
  { clock, scope, tracker }: RunTickDeps,
  collector: string,
  { signal, staleMs }: { readonly signal: AbortSignal; readonly staleMs: number },
): RunTick {
  const sweep = scope.sweep(collector, { staleMs });
  const denied = new Set<string>();
  let open = true;
  const observed = (operation: Operation, state: ApiState): void => {
    // A cancelled or finished run records nothing.
    if (open && !(state === "unknown" && signal.aborted))
      tracker.observed(collector, operation, state);
  };
  return {
    denied,
    tick: {
      nowMs: clock.now(),
      signal,
      observed,
      sweep: {
        gauge: (row, value, attributes) => (open ? sweep.gauge(row, value, attributes) : undefined),
      },
      async call(operation, run) {
        try {
          const answer = await run();
          observed(operation, "supported");
          return answer;
        } catch (error) {
          if (failureOf(error)?.status === FORBIDDEN) denied.add(operation.name);
          observed(operation, stateOfError(error, operation));
          throw error;
        }
      },
      covered(operation, result) {
        if (result.failures.includes("scope_denied")) denied.add(operation.name);
        if (open) tracker.covered(collector, operation, result);
      },
    },
    end(how) {
      open = false;
      sweep[how]();
    },
  };
}
