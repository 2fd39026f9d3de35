/** Metrics of the monitor: annotations, privacy and the admin API. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

export const adminAuthRejected = defineMetric({
  name: "svc.admin.auth.rejected",
  kind: "counter",
  unit: "1",
  attributes: ["reason"],
  group: "Self-observability",
  help: "Admin requests refused: missing_credentials, bad_credentials or auth_required.",
  when: "self_observability.enabled",
});
export const annotationDegraded = defineMetric({
  name: "svc.annotation.degraded",
  kind: "gauge",
  unit: "1",
  group: "Self-observability",
  help: "1 while the latest annotation write is failing.",
  when: "annotations url set",
});
export const annotationDropped = defineMetric({
  name: "svc.annotation.dropped",
  kind: "counter",
  unit: "{annotation}",
  attributes: ["reason"],
  group: "Self-observability",
  help: "Annotations not delivered, by bounded reason.",
  when: "annotations url set",
});
export const annotationPublished = defineMetric({
  name: "svc.annotation.published",
  kind: "counter",
  unit: "{annotation}",
  attributes: ["category"],
  group: "Self-observability",
  help: "Annotations accepted by the annotation backend, by category.",
  when: "annotations url set",
});
export const piiFilterCategory = defineMetric({
  name: "svc.pii_filter.category",
  kind: "gauge",
  unit: "1",
  attributes: ["category"],
  group: "Self-observability",
  help: "One point per privacy category: 1 emitted, 0 redacted.",
  when: "self_observability.enabled",
});

export const publishingMetrics: readonly AnyRow[] = catalogue([
  adminAuthRejected,
  annotationDegraded,
  annotationDropped,
  annotationPublished,
  piiFilterCategory,
]);
