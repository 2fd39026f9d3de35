/** Metrics of the monitor: Kubernetes API requests through the proxy. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

/** Idle counters are dropped after this time. */
const IDLE_MS = 3_600_000;

export const k8sApiExecSessions = defineMetric({
  name: "vpn.k8s.api.exec_sessions",
  kind: "counter",
  unit: "1",
  attributes: [
    "vpn.k8s.namespace",
    "vpn.k8s.command_class",
    "vpn.k8s.session_type",
    "vpn.k8s.user",
  ],
  idleMs: IDLE_MS,
  group: "Kubernetes audit",
  help: "exec, attach and portforward requests.",
  when: "collectors.k8s_audit.enabled",
});
export const k8sApiMutations = defineMetric({
  name: "vpn.k8s.api.mutations",
  kind: "counter",
  unit: "1",
  attributes: ["vpn.k8s.verb", "vpn.k8s.resource", "vpn.k8s.namespace", "vpn.k8s.user"],
  idleMs: IDLE_MS,
  group: "Kubernetes audit",
  help: "create, update, patch, delete and deletecollection requests.",
  when: "collectors.k8s_audit.enabled",
});
export const k8sApiRbacProbes = defineMetric({
  name: "vpn.k8s.api.rbac_probes",
  kind: "counter",
  unit: "1",
  attributes: ["vpn.k8s.resource", "vpn.k8s.namespace", "vpn.k8s.user"],
  idleMs: IDLE_MS,
  group: "Kubernetes audit",
  help: "Access-review requests.",
  when: "collectors.k8s_audit.enabled",
});
export const k8sApiRequests = defineMetric({
  name: "vpn.k8s.api.requests",
  kind: "counter",
  unit: "1",
  attributes: [
    "vpn.k8s.verb",
    "vpn.k8s.resource",
    "vpn.k8s.subresource",
    "vpn.k8s.api_group",
    "vpn.k8s.namespace",
    "vpn.k8s.user_agent",
    "vpn.k8s.user",
    "vpn.k8s.recorder",
  ],
  idleMs: IDLE_MS,
  group: "Kubernetes audit",
  help: "Cluster API requests seen through the proxy.",
  when: "collectors.k8s_audit.enabled",
});
export const k8sApiSensitiveReads = defineMetric({
  name: "vpn.k8s.api.sensitive_reads",
  kind: "counter",
  unit: "1",
  attributes: ["vpn.k8s.resource", "vpn.k8s.namespace", "vpn.k8s.user", "vpn.k8s.user_agent"],
  idleMs: IDLE_MS,
  group: "Kubernetes audit",
  help: "get, list and watch on sensitive resources.",
  when: "collectors.k8s_audit.enabled",
});
export const k8sSchemaDrift = defineMetric({
  name: "vpn.k8s.schema_drift",
  kind: "counter",
  unit: "1",
  attributes: ["field", "status"],
  idleMs: IDLE_MS,
  group: "Kubernetes audit",
  help: "Recorder event types seen, by field and known or unknown.",
  when: "collectors.k8s_audit.enabled",
});
export const k8sSessionStarted = defineMetric({
  name: "vpn.k8s.session.started",
  kind: "counter",
  unit: "1",
  attributes: [
    "vpn.k8s.session_type",
    "vpn.k8s.namespace",
    "vpn.k8s.command_class",
    "vpn.k8s.user",
  ],
  idleMs: IDLE_MS,
  group: "Kubernetes audit",
  help: "Recorded terminal sessions started.",
  when: "collectors.k8s_audit.enabled",
});

export const k8sAuditMetrics: readonly AnyRow[] = catalogue([
  k8sApiExecSessions,
  k8sApiMutations,
  k8sApiRbacProbes,
  k8sApiRequests,
  k8sApiSensitiveReads,
  k8sSchemaDrift,
  k8sSessionStarted,
]);
