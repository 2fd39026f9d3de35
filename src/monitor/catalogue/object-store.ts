/** Metrics of the monitor: reading exported logs from an object store (facts, metric catalogue). */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow, Row } from "../../kernel/telemetry/types.ts";

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

/** Listed objects still to do after the cycle. */
export const objectstoreBacklog: Row<never, "gauge"> = defineMetric({ name: "svc.objectstore.backlog", kind: "gauge", unit: "1", group: "Object-store ingestion", help: "Listed objects still to do after the cycle.", when: "source objectstore" });
/** Wire bytes read, failed attempts included. */
export const objectstoreBytes: Row<never, "counter"> = defineMetric({ name: "svc.objectstore.bytes", kind: "counter", unit: "By", group: "Object-store ingestion", help: "Wire bytes read, failed attempts included.", when: "source objectstore" });
/** Now minus the saved cursor. */
export const objectstoreCursorAge: Row<never, "gauge"> = defineMetric({ name: "svc.objectstore.cursor.age", kind: "gauge", unit: "s", group: "Object-store ingestion", help: "Now minus the saved cursor.", when: "source objectstore" });
/** Bytes after decompression, stopped attempts included. */
export const objectstoreDecompressedBytes: Row<never, "counter"> = defineMetric({ name: "svc.objectstore.decompressed.bytes", kind: "counter", unit: "By", group: "Object-store ingestion", help: "Bytes after decompression, stopped attempts included.", when: "source objectstore" });
/** Age of the newest listed object; -1 when none usable. */
export const objectstoreDiscoveredNewestAge: Row<never, "gauge"> = defineMetric({ name: "svc.objectstore.discovered.newest.age", kind: "gauge", unit: "s", group: "Object-store ingestion", help: "Age of the newest listed object; -1 when none usable.", when: "source objectstore" });
/** Attempts stopped by a byte or record limit; limit is object_wire_bytes, object_bytes, object_records, cycle_wire_bytes, cycle_bytes or cycle_records. */
export const objectstoreExpansionLimitFailures: Row<"limit", "counter"> = defineMetric({ name: "svc.objectstore.expansion.limit_failures", kind: "counter", unit: "1", attributes: ["limit"], group: "Object-store ingestion", help: "Attempts stopped by a byte or record limit; limit is object_wire_bytes, object_bytes, object_records, cycle_wire_bytes, cycle_bytes or cycle_records.", when: "source objectstore" });
/** 1 when no gap is open. */
export const objectstoreGapHealthy: Row<never, "gauge"> = defineMetric({ name: "svc.objectstore.gap.healthy", kind: "gauge", unit: "1", group: "Object-store ingestion", help: "1 when no gap is open.", when: "source objectstore" });
/** Age of the oldest open gap, 0 when none. */
export const objectstoreGapOldestAge: Row<never, "gauge"> = defineMetric({ name: "svc.objectstore.gap.oldest.age", kind: "gauge", unit: "s", group: "Object-store ingestion", help: "Age of the oldest open gap, 0 when none.", when: "source objectstore" });
/** Objects that failed and await retry or acknowledgement. */
export const objectstoreGaps: Row<never, "gauge"> = defineMetric({ name: "svc.objectstore.gaps", kind: "gauge", unit: "1", group: "Object-store ingestion", help: "Objects that failed and await retry or acknowledgement.", when: "source objectstore" });
/** Objects ingested. */
export const objectstoreObjects: Row<never, "counter"> = defineMetric({ name: "svc.objectstore.objects", kind: "counter", unit: "1", group: "Object-store ingestion", help: "Objects ingested.", when: "source objectstore" });
/** Age of the oldest object listed and not ingested; 0 when none. */
export const objectstorePendingOldestAge: Row<never, "gauge"> = defineMetric({ name: "svc.objectstore.pending.oldest.age", kind: "gauge", unit: "s", group: "Object-store ingestion", help: "Age of the oldest object listed and not ingested; 0 when none.", when: "source objectstore" });
/** Records accepted from ingested objects. */
export const objectstoreRecords: Row<never, "counter"> = defineMetric({ name: "svc.objectstore.records", kind: "counter", unit: "1", group: "Object-store ingestion", help: "Records accepted from ingested objects.", when: "source objectstore" });
/** Duration of store calls by operation and outcome. */
export const objectstoreRequestDuration: Row<"operation" | "outcome", "histogram"> = defineMetric({ name: "svc.objectstore.request.duration", kind: "histogram", unit: "s", attributes: ["operation", "outcome"], bounds: SECONDS, group: "Object-store ingestion", help: "Duration of store calls by operation and outcome.", when: "source objectstore" });
/** Store calls by operation (list, get) and outcome (success, error). */
export const objectstoreRequests: Row<"operation" | "outcome", "counter"> = defineMetric({ name: "svc.objectstore.requests", kind: "counter", unit: "1", attributes: ["operation", "outcome"], group: "Object-store ingestion", help: "Store calls by operation (list, get) and outcome (success, error).", when: "source objectstore" });
/** Attempts on objects that failed before. */
export const objectstoreRetries: Row<never, "counter"> = defineMetric({ name: "svc.objectstore.retries", kind: "counter", unit: "1", group: "Object-store ingestion", help: "Attempts on objects that failed before.", when: "source objectstore" });
/** 1 when listing ground remains. */
export const objectstoreScanTruncated: Row<never, "gauge"> = defineMetric({ name: "svc.objectstore.scan.truncated", kind: "gauge", unit: "1", group: "Object-store ingestion", help: "1 when listing ground remains.", when: "source objectstore" });
/** Objects or rows not ingested, by reason. */
export const objectstoreSkipped: Row<"reason", "counter"> = defineMetric({ name: "svc.objectstore.skipped", kind: "counter", unit: "1", attributes: ["reason"], group: "Object-store ingestion", help: "Objects or rows not ingested, by reason.", when: "source objectstore" });

/** All rows of this file. */
export const objectStoreMetrics: readonly AnyRow[] = catalogue([
  objectstoreBacklog, objectstoreBytes, objectstoreCursorAge, objectstoreDecompressedBytes, objectstoreDiscoveredNewestAge,
  objectstoreExpansionLimitFailures, objectstoreGapHealthy, objectstoreGapOldestAge, objectstoreGaps, objectstoreObjects,
  objectstorePendingOldestAge, objectstoreRecords, objectstoreRequestDuration, objectstoreRequests, objectstoreRetries, objectstoreScanTruncated,
  objectstoreSkipped,
]);
