/** Metrics of the monitor: ingested records by source. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

const AGES = [0, 1, 5, 10, 30, 60, 300, 900, 3_600, 21_600, 86_400] as const;

export const ingestCaptureDelay = defineMetric({
  name: "svc.ingest.capture.delay",
  kind: "histogram",
  unit: "s",
  attributes: ["source", "signal"],
  bounds: AGES,
  group: "Self-observability",
  help: "Gap between event time and upstream capture time, when both are given.",
  when: "self_observability.enabled",
});
export const ingestEventAge = defineMetric({
  name: "svc.ingest.event.age",
  kind: "histogram",
  unit: "s",
  attributes: ["source", "signal"],
  bounds: AGES,
  group: "Self-observability",
  help: "Age of an accepted event; future events clamp to 0.",
  when: "self_observability.enabled",
});
export const ingestLastEventTimestamp = defineMetric({
  name: "svc.ingest.last_event_timestamp",
  kind: "gauge",
  unit: "s",
  attributes: ["source", "signal"],
  group: "Self-observability",
  help: "Newest accepted event time per source and signal; never moves backwards.",
  when: "self_observability.enabled",
});
export const ingestRecords = defineMetric({
  name: "svc.ingest.records",
  kind: "counter",
  unit: "{record}",
  attributes: ["source", "signal"],
  group: "Self-observability",
  help: "Accepted records by source (poll, stream, webhook, objectstore) and signal (flow, audit, webhook, other).",
  when: "self_observability.enabled",
});
export const ingestSize = defineMetric({
  name: "svc.ingest.size",
  kind: "counter",
  unit: "By",
  attributes: ["source"],
  group: "Self-observability",
  help: "Decoded payload bytes by source; polling emits none.",
  when: "self_observability.enabled",
});
export const ingestTimestampSkew = defineMetric({
  name: "svc.ingest.timestamp_skew",
  kind: "counter",
  unit: "{event}",
  attributes: ["source", "signal"],
  group: "Self-observability",
  help: "Events whose times are inverted (event after acceptance, or capture before event).",
  when: "self_observability.enabled",
});
export const ingressWalCompletionMarkers = defineMetric({
  name: "svc.ingress_wal.completion.markers",
  kind: "gauge",
  unit: "1",
  group: "Self-observability",
  help: "Completion markers waiting for cleanup.",
  when: "self_observability.enabled and ingress_wal.enabled",
});
export const ingressWalOrphanSize = defineMetric({
  name: "svc.ingress_wal.orphan.size",
  kind: "gauge",
  unit: "By",
  group: "Self-observability",
  help: "Bytes on disk of leftover staging files.",
  when: "self_observability.enabled and ingress_wal.enabled",
});
export const ingressWalOrphanStages = defineMetric({
  name: "svc.ingress_wal.orphan.stages",
  kind: "gauge",
  unit: "1",
  group: "Self-observability",
  help: "Leftover staging files kept for recovery cleanup.",
  when: "self_observability.enabled and ingress_wal.enabled",
});
export const ingressWalPendingEntries = defineMetric({
  name: "svc.ingress_wal.pending.entries",
  kind: "gauge",
  unit: "1",
  group: "Self-observability",
  help: "Accepted receiver entries not yet applied and flushed.",
  when: "self_observability.enabled and ingress_wal.enabled",
});
export const ingressWalPendingSize = defineMetric({
  name: "svc.ingress_wal.pending.size",
  kind: "gauge",
  unit: "By",
  group: "Self-observability",
  help: "Encoded bytes on disk of pending entries.",
  when: "self_observability.enabled and ingress_wal.enabled",
});

export const ingestMetrics: readonly AnyRow[] = catalogue([
  ingestCaptureDelay,
  ingestEventAge,
  ingestLastEventTimestamp,
  ingestRecords,
  ingestSize,
  ingestTimestampSkew,
  ingressWalCompletionMarkers,
  ingressWalOrphanSize,
  ingressWalOrphanStages,
  ingressWalPendingEntries,
  ingressWalPendingSize,
]);
