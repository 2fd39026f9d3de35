/** Metrics of the whole process: newer releases and profile uploads. */
import { catalogue, defineMetric } from "../catalogue.ts";
import type { AnyRow } from "../types.ts";

const SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;
const self = { group: "Self-observability" } as const;
const pushed = { ...self, when: "profiler push enabled" } as const;

export const profilingUploadAttempts = defineMetric({
  ...pushed,
  name: "svc.profiling.upload.attempts",
  kind: "counter",
  unit: "1",
  help: "Profile uploads tried.",
});
export const profilingUploadConsecutiveFailures = defineMetric({
  ...pushed,
  name: "svc.profiling.upload.consecutive_failures",
  kind: "gauge",
  unit: "1",
  help: "Current failure streak of uploads.",
});
export const profilingUploadDuration = defineMetric({
  ...pushed,
  name: "svc.profiling.upload.duration",
  kind: "histogram",
  unit: "s",
  bounds: SECONDS,
  help: "Duration of a profile upload attempt, failures included.",
});
export const profilingUploadFailures = defineMetric({
  ...pushed,
  name: "svc.profiling.upload.failures",
  kind: "counter",
  unit: "1",
  attributes: ["error.type"],
  help: "Profile uploads failed, by closed error class.",
});
export const profilingUploadLastSuccess = defineMetric({
  ...pushed,
  name: "svc.profiling.upload.last_success",
  kind: "gauge",
  unit: "s",
  help: "Time of the last good upload; 0 before the first.",
});
export const updateAvailable = defineMetric({
  ...self,
  name: "svc.update_available",
  kind: "gauge",
  unit: "1",
  help: "1 when a newer release of the service exists, 0 when current.",
  when: "version_checks.self.enabled and both versions parse",
});

export const coordinationHeld = defineMetric({
  ...self,
  name: "svc.coordination.held",
  kind: "gauge",
  unit: "1",
  help: "1 while this replica holds the lease and monitors, 0 on standby.",
  when: "coordination.mode is not none",
});
export const coordinationEpoch = defineMetric({
  ...self,
  name: "svc.coordination.epoch",
  kind: "gauge",
  unit: "1",
  help: "Number of this replica's tenure, greater than that of every earlier holder.",
  when: "this replica holds the lease",
});

export const processMetrics: readonly AnyRow[] = catalogue([
  profilingUploadAttempts,
  profilingUploadConsecutiveFailures,
  profilingUploadDuration,
  profilingUploadFailures,
  profilingUploadLastSuccess,
  updateAvailable,
  coordinationHeld,
  coordinationEpoch,
]);
