/** Metrics of the monitor: annotations, privacy, updates, profiles and the admin API (facts, metric catalogue). */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow, Row } from "../../kernel/telemetry/types.ts";

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

/** Admin requests refused: missing_credentials, bad_credentials or auth_required. */
export const adminAuthRejected: Row<"reason", "counter"> = defineMetric({ name: "svc.admin.auth.rejected", kind: "counter", unit: "1", attributes: ["reason"], group: "Self-observability", help: "Admin requests refused: missing_credentials, bad_credentials or auth_required.", when: "self_observability.enabled" });
/** 1 while the latest annotation write is failing. */
export const annotationDegraded: Row<never, "gauge"> = defineMetric({ name: "svc.annotation.degraded", kind: "gauge", unit: "1", group: "Self-observability", help: "1 while the latest annotation write is failing.", when: "annotations url set" });
/** Annotations not delivered, by bounded reason. */
export const annotationDropped: Row<"reason", "counter"> = defineMetric({ name: "svc.annotation.dropped", kind: "counter", unit: "{annotation}", attributes: ["reason"], group: "Self-observability", help: "Annotations not delivered, by bounded reason.", when: "annotations url set" });
/** Annotations accepted by the annotation backend, by category. */
export const annotationPublished: Row<"category", "counter"> = defineMetric({ name: "svc.annotation.published", kind: "counter", unit: "{annotation}", attributes: ["category"], group: "Self-observability", help: "Annotations accepted by the annotation backend, by category.", when: "annotations url set" });
/** One point per privacy category: 1 emitted, 0 redacted. */
export const piiFilterCategory: Row<"category", "gauge"> = defineMetric({ name: "svc.pii_filter.category", kind: "gauge", unit: "1", attributes: ["category"], group: "Self-observability", help: "One point per privacy category: 1 emitted, 0 redacted.", when: "self_observability.enabled" });
/** Profile uploads tried. */
export const profilingUploadAttempts: Row<never, "counter"> = defineMetric({ name: "svc.profiling.upload.attempts", kind: "counter", unit: "1", group: "Self-observability", help: "Profile uploads tried.", when: "profiler push enabled" });
/** Current failure streak of uploads. */
export const profilingUploadConsecutiveFailures: Row<never, "gauge"> = defineMetric({ name: "svc.profiling.upload.consecutive_failures", kind: "gauge", unit: "1", group: "Self-observability", help: "Current failure streak of uploads.", when: "profiler push enabled" });
/** Duration of a profile upload attempt, failures included. */
export const profilingUploadDuration: Row<never, "histogram"> = defineMetric({ name: "svc.profiling.upload.duration", kind: "histogram", unit: "s", bounds: SECONDS, group: "Self-observability", help: "Duration of a profile upload attempt, failures included.", when: "profiler push enabled" });
/** Profile uploads failed, by closed error class. */
export const profilingUploadFailures: Row<"error.type", "counter"> = defineMetric({ name: "svc.profiling.upload.failures", kind: "counter", unit: "1", attributes: ["error.type"], group: "Self-observability", help: "Profile uploads failed, by closed error class.", when: "profiler push enabled" });
/** Time of the last good upload; 0 before the first. */
export const profilingUploadLastSuccess: Row<never, "gauge"> = defineMetric({ name: "svc.profiling.upload.last_success", kind: "gauge", unit: "s", group: "Self-observability", help: "Time of the last good upload; 0 before the first.", when: "profiler push enabled" });
/** 1 when a newer release of the service exists, 0 when current. */
export const updateAvailable: Row<never, "gauge"> = defineMetric({ name: "svc.update_available", kind: "gauge", unit: "1", group: "Self-observability", help: "1 when a newer release of the service exists, 0 when current.", when: "version_checks.self.enabled and both versions parse" });

/** All rows of this file. */
export const publishingMetrics: readonly AnyRow[] = catalogue([
  adminAuthRejected, annotationDegraded, annotationDropped, annotationPublished, piiFilterCategory, profilingUploadAttempts,
  profilingUploadConsecutiveFailures, profilingUploadDuration, profilingUploadFailures, profilingUploadLastSuccess, updateAvailable,
]);
