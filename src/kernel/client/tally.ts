/**
 * Adds up the attempts of one call, so that who counts calls hears of each exactly once, however it
 * ends.
 */
import type { FailureClass } from "./failure.ts";
import type { AttemptReport, CallReport } from "./types.ts";

/** One call's sum. */
export interface Tally {
  /** An attempt is over. A good one ends the call. */
  attempted(report: AttemptReport): void;
  /** The call waited between two attempts. */
  paused(ms: number): void;
  /** The attempt that runs is the last: how it ends is how the call ends. */
  handedOver(): void;
  /** No attempt follows. */
  failed(kind: FailureClass): void;
}

/** A call that begins. */
export function createTally(
  operation: string,
  observe: ((report: CallReport) => void) | undefined,
): Tally {
  let sum: CallReport = {
    operation,
    status: 0,
    class: undefined,
    attempts: 0,
    durationMs: 0,
    waitedMs: 0,
  };
  let last = false;
  let over = false;

  function end(kind: FailureClass | undefined): void {
    if (over) return;
    over = true;
    observe?.({ ...sum, class: kind });
  }

  return {
    attempted(report) {
      sum = {
        ...sum,
        status: report.status,
        attempts: report.attempt,
        durationMs: sum.durationMs + report.durationMs,
        waitedMs: sum.waitedMs + report.waitedMs,
      };
      if (last || report.class === undefined) end(report.class);
    },
    paused(ms) {
      sum = { ...sum, durationMs: sum.durationMs + ms };
    },
    handedOver() {
      last = true;
    },
    failed: end,
  };
}
