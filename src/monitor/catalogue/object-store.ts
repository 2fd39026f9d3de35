/** Metrics of the monitor: reading exported logs from an object store. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

export const objectstoreBacklog = defineMetric({
  name: "svc.objectstore.backlog",
  kind: "gauge",
  unit: "1",
  group: "Object-store ingestion",
  help: "Listed objects still to do after the cycle.",
  when: "source objectstore",
});
export const objectstoreBytes = defineMetric({
  name: "svc.objectstore.bytes",
  kind: "counter",
  unit: "By",
  group: "Object-store ingestion",
  help: "Wire bytes read, failed attempts included.",
  when: "source objectstore",
});
export const objectstoreCursorAge = defineMetric({
  name: "svc.objectstore.cursor.age",
  kind: "gauge",
  unit: "s",
  group: "Object-store ingestion",
  help: "Now minus the saved cursor.",
  when: "source objectstore",
});
export const objectstoreDecompressedBytes = defineMetric({
  name: "svc.objectstore.decompressed.bytes",
  kind: "counter",
  unit: "By",
  group: "Object-store ingestion",
  help: "Bytes after decompression, stopped attempts included.",
  when: "source objectstore",
});
export const objectstoreDiscoveredNewestAge = defineMetric({
  name: "svc.objectstore.discovered.newest.age",
  kind: "gauge",
  unit: "s",
  group: "Object-store ingestion",
  help: "Age of the newest listed object; -1 when none usable.",
  when: "source objectstore",
});
export const objectstoreExpansionLimitFailures = defineMetric({
  name: "svc.objectstore.expansion.limit_failures",
  kind: "counter",
  unit: "1",
  attributes: ["limit"],
  group: "Object-store ingestion",
  help: "Attempts stopped by a byte or record limit; limit is object_wire_bytes, object_bytes, object_records, cycle_wire_bytes, cycle_bytes or cycle_records.",
  when: "source objectstore",
});
export const objectstoreGapHealthy = defineMetric({
  name: "svc.objectstore.gap.healthy",
  kind: "gauge",
  unit: "1",
  group: "Object-store ingestion",
  help: "1 when no gap is open.",
  when: "source objectstore",
});
export const objectstoreGapOldestAge = defineMetric({
  name: "svc.objectstore.gap.oldest.age",
  kind: "gauge",
  unit: "s",
  group: "Object-store ingestion",
  help: "Age of the oldest open gap, 0 when none.",
  when: "source objectstore",
});
export const objectstoreGaps = defineMetric({
  name: "svc.objectstore.gaps",
  kind: "gauge",
  unit: "1",
  group: "Object-store ingestion",
  help: "Objects that could not be read and are tried again until they are read or gone.",
  when: "source objectstore",
});
export const objectstoreObjects = defineMetric({
  name: "svc.objectstore.objects",
  kind: "counter",
  unit: "1",
  group: "Object-store ingestion",
  help: "Objects ingested.",
  when: "source objectstore",
});
export const objectstorePendingOldestAge = defineMetric({
  name: "svc.objectstore.pending.oldest.age",
  kind: "gauge",
  unit: "s",
  group: "Object-store ingestion",
  help: "Age of the oldest object listed and not ingested; 0 when none.",
  when: "source objectstore",
});
export const objectstoreRecords = defineMetric({
  name: "svc.objectstore.records",
  kind: "counter",
  unit: "1",
  group: "Object-store ingestion",
  help: "Records accepted from ingested objects.",
  when: "source objectstore",
});
export const objectstoreRequestDuration = defineMetric({
  name: "svc.objectstore.request.duration",
  kind: "histogram",
  unit: "s",
  attributes: ["operation", "outcome"],
  bounds: SECONDS,
  group: "Object-store ingestion",
  help: "Duration of store calls by operation and outcome.",
  when: "source objectstore",
});
export const objectstoreRequests = defineMetric({
  name: "svc.objectstore.requests",
  kind: "counter",
  unit: "1",
  attributes: ["operation", "outcome"],
  group: "Object-store ingestion",
  help: "Store calls by operation (list, get) and outcome (success, error).",
  when: "source objectstore",
});
export const objectstoreRetries = defineMetric({
  name: "svc.objectstore.retries",
  kind: "counter",
  unit: "1",
  group: "Object-store ingestion",
  help: "Attempts on objects that failed before.",
  when: "source objectstore",
});
export const objectstoreScanTruncated = defineMetric({
  name: "svc.objectstore.scan.truncated",
  kind: "gauge",
  unit: "1",
  group: "Object-store ingestion",
  help: "1 when listing ground remains.",
  when: "source objectstore",
});
export const objectstoreSkipped = defineMetric({
  name: "svc.objectstore.skipped",
  kind: "counter",
  unit: "1",
  attributes: ["reason"],
  group: "Object-store ingestion",
  help: "Objects or rows not ingested, by reason.",
  when: "source objectstore",
});

export const objectStoreMetrics: readonly AnyRow[] = catalogue([
  objectstoreBacklog,
  objectstoreBytes,
  objectstoreCursorAge,
  objectstoreDecompressedBytes,
  objectstoreDiscoveredNewestAge,
  objectstoreExpansionLimitFailures,
  objectstoreGapHealthy,
  objectstoreGapOldestAge,
  objectstoreGaps,
  objectstoreObjects,
  objectstorePendingOldestAge,
  objectstoreRecords,
  objectstoreRequestDuration,
  objectstoreRequests,
  objectstoreRetries,
  objectstoreScanTruncated,
  objectstoreSkipped,
]);
