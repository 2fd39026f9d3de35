/** Metrics of the ingress log: `svc.ingress_wal.*`. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import {
  ingressWalCompletionMarkers,
  ingressWalOrphanSize,
  ingressWalOrphanStages,
  ingressWalPendingEntries,
  ingressWalPendingSize,
} from "../catalogue/ingest.ts";
import type { IngressLog } from "./ingress-log.ts";

export function reportIngress(scope: Scope, log: Pick<IngressLog, "size">): void {
  scope.observe(() => {
    const size = log.size();
    if (size === undefined) return;
    scope.gauge(ingressWalPendingEntries, size.entries, {});
    scope.gauge(ingressWalPendingSize, size.bytes, {});
    scope.gauge(ingressWalOrphanStages, size.orphans, {});
    scope.gauge(ingressWalOrphanSize, size.orphanBytes, {});
    // An entry is removed in one change, so that no marker can remain.
    scope.gauge(ingressWalCompletionMarkers, 0, {});
  });
}
