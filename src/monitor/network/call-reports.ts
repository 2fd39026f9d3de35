/**
 * Writes call reports to a network's scope, including those of calls made before the scope was
 * open.
 */
import type { CallReport } from "../../kernel/client/types.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { createApiObserver } from "../providers/api-metrics.ts";

/** Only the lookup of the network's name precedes the scope. */
const MAX_EARLY_REPORTS = 64;

export interface CallReports {
  readonly observe: (report: CallReport) => void;
  open(scope: Scope): void;
}

/** Buffers the first reports until a scope is set. */
export function createCallReports(): CallReports {
  const early: CallReport[] = [];
  let write = (report: CallReport): void => {
    if (early.length < MAX_EARLY_REPORTS) early.push(report);
  };
  return {
    observe: (report) => write(report),
    open(scope) {
      write = createApiObserver(scope);
      for (const report of early.splice(0)) write(report);
    },
  };
}
