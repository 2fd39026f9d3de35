/** Sums the attempts of one call, so that each call is reported exactly once. */
import type { FailureClass } from "../failure.ts";
import type { AttemptReport, CallReport } from "../types.ts";

export interface Tally {
  /** An attempt is over. A successful one ends the call. */
  attempted(report: AttemptReport): void;
  /** The call waited between two attempts. */
  paused(ms: number): void;
  /** The running attempt is the last: its end is the call's end. */
  handedOver(): void;
  /** No attempt follows. */
  failed(kind: FailureClass): void;
}

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
