/** What a collector is given for one run, and what becomes of it when the run is over. */
import type { Clock } from "../../kernel/base/clock.ts";
import { failureOf } from "../../kernel/client/failure.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { stateOfError, type ApiState, type Operation } from "../capability/operation.ts";
import type { CapabilityTracker } from "../capability/tracker.ts";
import type { Tick } from "../collectors/collector.ts";

const FORBIDDEN = 403;

/** What a run works with. */
export interface RunTickDeps {
  readonly clock: Pick<Clock, "now">;
  readonly scope: Scope;
  readonly tracker: CapabilityTracker;
}

/** A run of a collector. */
export interface RunTick {
  readonly tick: Tick;
  /**
   * Ends it: levels that were not said again go with `commit` and stay with `abandon`. What a run
   * that was left behind still says is nothing.
   */
  end(how: "commit" | "abandon"): void;
  /** Operations that were answered with 403, or would have been for some entity. */
  readonly denied: ReadonlySet<string>;
}

/** Begins a run; an earlier one that goes on can say nothing any more. */
export function beginTick(
  { clock, scope, tracker }: RunTickDeps,
  collector: string,
  { signal, staleMs }: { readonly signal: AbortSignal; readonly staleMs: number },
): RunTick {
  const sweep = scope.sweep(collector, { staleMs });
  const denied = new Set<string>();
  let open = true;
  const observed = (operation: Operation, state: ApiState): void => {
    // A run that is cancelled leaves no trace, and neither does one that has ended.
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
