/**
 * Metrics of control plane requests, one count per logical request, written to a network's scope.
 * Reports made before the scope is open are buffered.
 */
import type { CallReport } from "../../kernel/client/types.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { apiDuration, apiRateLimitWait, apiRequests, apiRetries } from "../catalogue/api.ts";

/** Shorter delays are overhead of the rate limiter, not waiting. */
const MIN_WAIT_MS = 1;

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

/** Records each request in the scope. Cancelled requests are not counted. */
export function createApiObserver(
  scope: Pick<Scope, "add" | "record">,
): (report: CallReport) => void {
  return ({ operation: endpoint, status, class: kind, attempts, durationMs, waitedMs }) => {
    if (kind === "cancelled") return;
    const attributes = { endpoint, "http.response.status_code": status };
    scope.add(apiRequests, 1, attributes);
    scope.record(apiDuration, durationMs / 1_000, attributes);
    if (attempts > 1) scope.add(apiRetries, attempts - 1, { endpoint });
    if (waitedMs >= MIN_WAIT_MS) scope.record(apiRateLimitWait, waitedMs / 1_000, { endpoint });
  };
}
