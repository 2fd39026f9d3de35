/** What a collector is given for one run, and what becomes of it when the run is over. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { stateOfError, type ApiState, type Operation } from "../capability/operation.ts";
import type { CapabilityTracker } from "../capability/tracker.ts";
import type { Tick } from "../collectors/collector.ts";

/** What a run works with. */
export interface RunTickDeps {
  readonly clock: Pick<Clock, "now">;
  readonly scope: Scope;
  readonly tracker: CapabilityTracker;
}

/** A run of a collector. */
export interface RunTick {
  readonly tick: Tick;
  /** Ends it: levels that were not said again go with `commit` and stay with `abandon`. What a run that was left behind still says is nothing. */
  end(how: "commit" | "abandon"): void;
}

/** Begins a run; an earlier one that goes on can say nothing any more. */
export function beginTick({ clock, scope, tracker }: RunTickDeps, collector: string, { signal, staleMs }: { readonly signal: AbortSignal; readonly staleMs: number }): RunTick {
  const sweep = scope.sweep(collector, { staleMs });
  let open = true;
  const observed = (operation: Operation, state: ApiState): void => {
    // A run that is cancelled leaves no trace, and neither does one that has ended.
    if (open && !(state === "unknown" && signal.aborted)) tracker.observed(collector, operation, state);
  };
  return {
    tick: {
      nowMs: clock.now(), signal, observed,
      sweep: { gauge: (row, value, attributes) => (open ? sweep.gauge(row, value, attributes) : undefined) },
      async call(operation, run) {
        try {
          const answer = await run();
          observed(operation, "supported");
          return answer;
        } catch (error) {
          observed(operation, stateOfError(error, operation));
          throw error;
        }
      },
      covered: (operation, result) => (open ? tracker.covered(collector, operation, result) : undefined),
    },
    end(how) {
      open = false;
      sweep[how]();
    },
  };
}
