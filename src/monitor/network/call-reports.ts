/**
 * Takes what is told of calls into the series of a network, also from calls that were made before
 * those were open.
 */
import type { CallReport } from "../../kernel/client/types.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { createApiObserver } from "../providers/api-metrics.ts";

/** Only the question for the network's name comes before the series are open. */
const MOST_EARLY = 64;

/** Where reports go. */
export interface CallReports {
  readonly observe: (report: CallReport) => void;
  open(scope: Scope): void;
}

/** Reports that wait for a scope, the first ones. */
export function createCallReports(): CallReports {
  const early: CallReport[] = [];
  let write = (report: CallReport): void => {
    if (early.length < MOST_EARLY) early.push(report);
  };
  return {
    observe: (report) => write(report),
    open(scope) {
      write = createApiObserver(scope);
      for (const report of early.splice(0)) write(report);
    },
  };
}
