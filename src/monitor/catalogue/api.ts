/** Metrics of the monitor: control API calls and their permissions. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

const SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30] as const;

export const apiAvailability = defineMetric({
  name: "svc.api.availability",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.collector", "vpn.api.operation", "vpn.api.state"],
  group: "Self-observability",
  help: "State set per collector and operation: 1 for the present state, 0 for the six others.",
});
export const apiDuration = defineMetric({
  name: "svc.api.duration",
  kind: "histogram",
  unit: "s",
  attributes: ["endpoint", "http.response.status_code"],
  bounds: SECONDS,
  exemplars: true,
  group: "Self-observability",
  help: "Latency of a logical request including backoff and excluding client-side limiter wait.",
  when: "self_observability.enabled",
});
export const apiLastProbe = defineMetric({
  name: "svc.api.last_probe",
  kind: "gauge",
  unit: "s",
  attributes: ["vpn.collector", "vpn.api.operation"],
  group: "Self-observability",
  help: "Time of the latest probe of an operation.",
});
export const apiRateLimitWait = defineMetric({
  name: "svc.api.rate_limit.wait",
  kind: "histogram",
  unit: "s",
  attributes: ["endpoint"],
  bounds: SECONDS,
  group: "Self-observability",
  help: "Time blocked on the client-side limiter over all attempts of one request.",
  when: "self_observability.enabled; only when wait > 0",
});
export const apiRequests = defineMetric({
  name: "svc.api.requests",
  kind: "counter",
  unit: "1",
  attributes: ["endpoint", "http.response.status_code"],
  group: "Self-observability",
  help: "Finished logical control-API requests by endpoint label and final HTTP status (0 for transport error).",
  when: "self_observability.enabled",
});
export const apiRetries = defineMetric({
  name: "svc.api.retries",
  kind: "counter",
  unit: "1",
  attributes: ["endpoint"],
  group: "Self-observability",
  help: "Attempts beyond the first, by endpoint.",
  when: "self_observability.enabled; only when a retry occurred",
});
export const capabilityScopeSatisfied = defineMetric({
  name: "svc.capability.scope_satisfied",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.capability"],
  group: "Self-observability",
  help: "1 when configured OAuth scopes cover the capability, 0 when not.",
});
export const capabilityStatus = defineMetric({
  name: "svc.capability.status",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.collector", "vpn.api.state"],
  group: "Self-observability",
  help: "One point per collector and state; 1 marks the worst current state over its operations.",
  when: "self_observability.enabled; primary network, active collectors",
});
export const subrequestAttempts = defineMetric({
  name: "svc.subrequest.attempts",
  kind: "counter",
  unit: "{request}",
  attributes: ["vpn.collector", "vpn.subrequest"],
  group: "Self-observability",
  help: "Per-entity calls tried in a pass, by type.",
  when: "per-entity subrequests enabled",
});
export const subrequestCoverage = defineMetric({
  name: "svc.subrequest.coverage",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.collector", "vpn.subrequest"],
  group: "Self-observability",
  help: "Share of per-entity calls that succeeded in the last pass; 1 when none tried.",
  when: "per-entity subrequests enabled",
});
export const subrequestFailures = defineMetric({
  name: "svc.subrequest.failures",
  kind: "counter",
  unit: "{request}",
  attributes: ["vpn.collector", "vpn.subrequest", "vpn.api.state"],
  group: "Self-observability",
  help: "Per-entity calls failed, by type and state (five failure states zero-seeded).",
  when: "per-entity subrequests enabled",
});

export const apiMetrics: readonly AnyRow[] = catalogue([
  apiAvailability,
  apiDuration,
  apiLastProbe,
  apiRateLimitWait,
  apiRequests,
  apiRetries,
  capabilityScopeSatisfied,
  capabilityStatus,
  subrequestAttempts,
  subrequestCoverage,
  subrequestFailures,
]);
