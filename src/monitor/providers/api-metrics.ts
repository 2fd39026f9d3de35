/**
 * What requests to a control plane leave in the network's series: one logical request, one count.
 */
import type { CallReport } from "../../kernel/client/types.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import { apiDuration, apiRateLimitWait, apiRequests, apiRetries } from "../catalogue/api.ts";

/** Less is the time it takes to ask the limiter, not a wait. */
const SHORTEST_WAIT_MS = 1;

/** Writes each request into the scope. What was cancelled did not finish and is not counted. */
export function createApiObserver(
  scope: Pick<Scope, "add" | "record">,
): (report: CallReport) => void {
  return ({ operation: endpoint, status, class: kind, attempts, durationMs, waitedMs }) => {
    if (kind === "cancelled") return;
    const attributes = { endpoint, "http.response.status_code": status };
    scope.add(apiRequests, 1, attributes);
    scope.record(apiDuration, durationMs / 1_000, attributes);
    if (attempts > 1) scope.add(apiRetries, attempts - 1, { endpoint });
    if (waitedMs >= SHORTEST_WAIT_MS)
      scope.record(apiRateLimitWait, waitedMs / 1_000, { endpoint });
  };
}
