/**
 * Metrics of the monitor: traffic between nodes and changes of the configuration (facts, metric
 * catalogue).
 */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

const DELAYS = [1, 5, 30, 60, 300, 900, 3_600, 21_600, 86_400] as const;
/** A sum of something that is gone leaves after an hour. */
const IDLE_MS = 3_600_000;

export const featureEnabled = defineMetric({
  name: "vpn.feature.enabled",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.feature"],
  group: "Features",
  help: "1 when the named feature (network_flow_logging) is on.",
});
export const configAuditChanges = defineMetric({
  name: "vpn.config.audit.changes",
  kind: "counter",
  unit: "{event}",
  attributes: ["vpn.audit.change", "vpn.audit.action", "vpn.actor.type"],
  group: "Network / flow",
  help: "Security-relevant audit changes by category, action and actor type.",
});
export const configAuditDeferredDelay = defineMetric({
  name: "vpn.config.audit.deferred.delay",
  kind: "histogram",
  unit: "s",
  bounds: DELAYS,
  group: "Network / flow",
  help: "Seconds from event time to deferral time; needs both in order.",
});
export const configAuditEvents = defineMetric({
  name: "vpn.config.audit.events",
  kind: "counter",
  unit: "{event}",
  attributes: ["vpn.audit.action", "vpn.audit.origin"],
  group: "Network / flow",
  help: "Audit events by action and origin (unknown values fold to other).",
});
export const configAuditProcessingDelay = defineMetric({
  name: "vpn.config.audit.processing.delay",
  kind: "histogram",
  unit: "s",
  bounds: DELAYS,
  group: "Network / flow",
  help: "Seconds from deferral (or event) time to local acceptance.",
});
export const configAuditSchemaDrift = defineMetric({
  name: "vpn.config.audit.schema_drift",
  kind: "counter",
  unit: "{observation}",
  attributes: ["field", "status"],
  group: "Network / flow",
  help: "Enum values seen, by field and known or unknown.",
});
export const exitNodeIo = defineMetric({
  name: "vpn.exit_node.io",
  kind: "counter",
  unit: "By",
  attributes: ["vpn.exit_node", "network.io.direction"],
  idleMs: IDLE_MS,
  group: "Network / flow",
  help: "Bytes carried by each exit node, by direction.",
  when: "cardinality.flow.exit_node_attribution",
});
export const exitNodePackets = defineMetric({
  name: "vpn.exit_node.packets",
  kind: "counter",
  unit: "{packet}",
  attributes: ["vpn.exit_node", "network.io.direction"],
  idleMs: IDLE_MS,
  group: "Network / flow",
  help: "Packets carried by each exit node, by direction.",
  when: "cardinality.flow.exit_node_attribution",
});
export const networkDataQuality = defineMetric({
  name: "vpn.network.data_quality",
  kind: "counter",
  unit: "{violation}",
  attributes: ["source", "reason"],
  group: "Network / flow",
  help: "Flow records rejected by validation, by source and reason.",
});
export const networkDedupConflicts = defineMetric({
  name: "vpn.network.dedup.conflicts",
  kind: "counter",
  unit: "{conflict}",
  attributes: ["scope", "vpn.traffic_type"],
  group: "Network / flow",
  help: "Repeated connections with other counters; first values win. Scope poll_boundary or cross_source.",
});
export const networkFieldObservations = defineMetric({
  name: "vpn.network.field.observations",
  kind: "counter",
  unit: "{observation}",
  attributes: ["vpn.traffic_type", "field_class", "state"],
  group: "Network / flow",
  help: "Presence of connection fields by traffic type, field class and state.",
});
export const networkFlowLogsDropped = defineMetric({
  name: "vpn.network.flow.logs_dropped",
  kind: "counter",
  unit: "{record}",
  group: "Network / flow",
  help: "Flow log records withheld by the volume guard.",
  when: "collectors.flowlogs.max_log_records_per_window > 0",
});
export const networkFlows = defineMetric({
  name: "vpn.network.flows",
  kind: "counter",
  unit: "{flow}",
  attributes: ["network.transport", "vpn.traffic_type"],
  group: "Network / flow",
  help: "Connections seen, by transport and traffic type.",
});
export const networkIo = defineMetric({
  name: "vpn.network.io",
  kind: "counter",
  unit: "By",
  attributes: [
    "network.io.direction",
    "network.transport",
    "vpn.traffic_type",
    "vpn.src.node",
    "vpn.dst.node",
    "source.port",
    "destination.port",
    "vpn.dst.service",
    "vpn.path",
    "vpn.derp.region_id",
    "vpn.src.user",
    "vpn.src.tags",
    "vpn.src.os",
    "vpn.dst.user",
    "vpn.dst.tags",
    "vpn.dst.os",
    "source.geo.country.iso_code",
    "source.geo.continent.code",
    "destination.geo.country.iso_code",
    "destination.geo.continent.code",
  ],
  idleMs: IDLE_MS,
  group: "Network / flow",
  help: "Bytes by direction, transport, traffic type, endpoints, path and optional ports, identity and geography.",
  when: "cardinality.flow.metrics_mode all or both",
});
export const networkIoRollup = defineMetric({
  name: "vpn.network.io.rollup",
  kind: "counter",
  unit: "By",
  attributes: [
    "network.io.direction",
    "network.transport",
    "vpn.traffic_type",
    "vpn.src.node",
    "vpn.dst.node",
    "vpn.dst.service",
    "vpn.path",
    "vpn.derp.region_id",
    "vpn.src.user",
    "vpn.src.tags",
    "vpn.src.os",
    "vpn.dst.user",
    "vpn.dst.tags",
    "vpn.dst.os",
    "source.geo.country.iso_code",
    "source.geo.continent.code",
    "destination.geo.country.iso_code",
    "destination.geo.continent.code",
  ],
  idleMs: IDLE_MS,
  group: "Network / flow",
  help: "Bytes for the busiest keys per flush; the rest under node value __other__.",
  when: "cardinality.flow.metrics_mode rollup or both",
});
export const networkPackets = defineMetric({
  name: "vpn.network.packets",
  kind: "counter",
  unit: "{packet}",
  attributes: [
    "network.io.direction",
    "network.transport",
    "vpn.traffic_type",
    "vpn.src.node",
    "vpn.dst.node",
    "source.port",
    "destination.port",
    "vpn.dst.service",
    "vpn.path",
    "vpn.derp.region_id",
    "vpn.src.user",
    "vpn.src.tags",
    "vpn.src.os",
    "vpn.dst.user",
    "vpn.dst.tags",
    "vpn.dst.os",
    "source.geo.country.iso_code",
    "source.geo.continent.code",
    "destination.geo.country.iso_code",
    "destination.geo.continent.code",
  ],
  idleMs: IDLE_MS,
  group: "Network / flow",
  help: "Packets with the attributes of vpn.network.io.",
  when: "cardinality.flow.metrics_mode all or both",
});
export const networkPacketsRollup = defineMetric({
  name: "vpn.network.packets.rollup",
  kind: "counter",
  unit: "{packet}",
  attributes: [
    "network.io.direction",
    "network.transport",
    "vpn.traffic_type",
    "vpn.src.node",
    "vpn.dst.node",
    "vpn.dst.service",
    "vpn.path",
    "vpn.derp.region_id",
    "vpn.src.user",
    "vpn.src.tags",
    "vpn.src.os",
    "vpn.dst.user",
    "vpn.dst.tags",
    "vpn.dst.os",
    "source.geo.country.iso_code",
    "source.geo.continent.code",
    "destination.geo.country.iso_code",
    "destination.geo.continent.code",
  ],
  idleMs: IDLE_MS,
  group: "Network / flow",
  help: "Packets with the attributes of vpn.network.io.rollup.",
  when: "cardinality.flow.metrics_mode rollup or both",
});
export const networkReporterObservations = defineMetric({
  name: "vpn.network.reporter.observations",
  kind: "counter",
  unit: "{observation}",
  attributes: ["trust", "consistency"],
  group: "Network / flow",
  help: "Flow records by reporter trust and consistency.",
});
const networkStoreDropped = defineMetric({
  name: "vpn.network.store.dropped",
  kind: "counter",
  unit: "{record}",
  attributes: ["reason"],
  group: "Network / flow",
  help: "Observations refused by the local flow store: expired or future.",
  when: "flows.enabled",
});
export const networkUniqueDstPeers = defineMetric({
  name: "vpn.network.unique.dst_peers",
  kind: "gauge",
  unit: "{peer}",
  attributes: ["vpn.src.node"],
  group: "Network / flow",
  help: "Distinct destination nodes per source node in the last flush.",
  when: "cardinality.flow.metrics_mode rollup or both, and node_dims",
});
export const networkUniqueDstPorts = defineMetric({
  name: "vpn.network.unique.dst_ports",
  kind: "gauge",
  unit: "{port}",
  attributes: ["vpn.src.node"],
  group: "Network / flow",
  help: "Distinct destination ports per source node in the last flush.",
  when: "cardinality.flow.metrics_mode rollup or both, and node_dims",
});

/** All rows of this file. */
export const flowsMetrics: readonly AnyRow[] = catalogue([
  featureEnabled,
  configAuditChanges,
  configAuditDeferredDelay,
  configAuditEvents,
  configAuditProcessingDelay,
  configAuditSchemaDrift,
  exitNodeIo,
  exitNodePackets,
  networkDataQuality,
  networkDedupConflicts,
  networkFieldObservations,
  networkFlowLogsDropped,
  networkFlows,
  networkIo,
  networkIoRollup,
  networkPackets,
  networkPacketsRollup,
  networkReporterObservations,
  networkStoreDropped,
  networkUniqueDstPeers,
  networkUniqueDstPorts,
]);
