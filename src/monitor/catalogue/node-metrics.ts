/** Metrics of the monitor: node agents. */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";

/** Idle counters are dropped after this time. */
const IDLE_MS = 3_600_000;

export const nodemetricsDiscoverySuccess = defineMetric({
  name: "svc.nodemetrics.discovery.success",
  kind: "gauge",
  unit: "1",
  group: "Node metrics",
  help: "1 when the last target discovery worked.",
  when: "collectors.node_metrics.discovery.enabled",
});
export const nodemetricsDiscoveryTargets = defineMetric({
  name: "svc.nodemetrics.discovery.targets",
  kind: "gauge",
  unit: "{target}",
  group: "Node metrics",
  help: "Active targets, static plus discovered.",
  when: "collectors.node_metrics.discovery.enabled",
});
export const nodemetricsMetricNamesDropped = defineMetric({
  name: "svc.nodemetrics.metric_names.dropped",
  kind: "counter",
  unit: "1",
  attributes: ["reason"],
  group: "Node metrics",
  help: "Forwarded samples dropped because the name budget was used up (reason metric_name_budget).",
  when: "collectors.node_metrics.enabled",
});
export const nodeDerpHomeRegion = defineMetric({
  name: "vpn.node.derp.home_region",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.node"],
  group: "Node metrics",
  help: "Home relay region id as value.",
  when: "collectors.node_metrics.enabled",
});
export const nodeHealthMessages = defineMetric({
  name: "vpn.node.health_messages",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.node", "vpn.health.type"],
  group: "Node metrics",
  help: "Active health warnings by type.",
  when: "collectors.node_metrics.enabled",
});
export const nodeIo = defineMetric({
  name: "vpn.node.io",
  kind: "counter",
  unit: "By",
  attributes: ["vpn.node", "network.io.direction", "vpn.path"],
  idleMs: IDLE_MS,
  group: "Node metrics",
  help: "Bytes through the node data plane by direction and folded path.",
  when: "collectors.node_metrics.enabled",
});
export const nodePackets = defineMetric({
  name: "vpn.node.packets",
  kind: "counter",
  unit: "{packet}",
  attributes: ["vpn.node", "network.io.direction", "vpn.path"],
  idleMs: IDLE_MS,
  group: "Node metrics",
  help: "Packets through the node data plane by direction and folded path.",
  when: "collectors.node_metrics.enabled",
});
export const nodePacketsDropped = defineMetric({
  name: "vpn.node.packets.dropped",
  kind: "counter",
  unit: "{packet}",
  attributes: ["vpn.node", "network.io.direction", "vpn.drop.reason"],
  idleMs: IDLE_MS,
  group: "Node metrics",
  help: "Packets dropped by direction and folded reason.",
  when: "collectors.node_metrics.enabled",
});
export const nodePeerRelayEndpoints = defineMetric({
  name: "vpn.node.peer_relay.endpoints",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.node", "vpn.peer_relay.state"],
  group: "Node metrics",
  help: "Peer-relay endpoints by state.",
  when: "collectors.node_metrics.enabled",
});
export const nodePeerRelayIo = defineMetric({
  name: "vpn.node.peer_relay.io",
  kind: "counter",
  unit: "By",
  attributes: ["vpn.node", "vpn.peer_relay.transport_in", "vpn.peer_relay.transport_out"],
  idleMs: IDLE_MS,
  group: "Node metrics",
  help: "Bytes relayed for peers by in and out transport.",
  when: "collectors.node_metrics.enabled",
});
export const nodePeerRelayPackets = defineMetric({
  name: "vpn.node.peer_relay.packets",
  kind: "counter",
  unit: "{packet}",
  attributes: ["vpn.node", "vpn.peer_relay.transport_in", "vpn.peer_relay.transport_out"],
  idleMs: IDLE_MS,
  group: "Node metrics",
  help: "Packets relayed for peers by in and out transport.",
  when: "collectors.node_metrics.enabled",
});
export const nodeUp = defineMetric({
  name: "vpn.node.up",
  kind: "gauge",
  unit: "1",
  attributes: ["vpn.node"],
  group: "Node metrics",
  help: "1 when the last scrape of the node worked.",
  when: "collectors.node_metrics.enabled",
});

export const nodeMetricsMetrics: readonly AnyRow[] = catalogue([
  nodemetricsDiscoverySuccess,
  nodemetricsDiscoveryTargets,
  nodemetricsMetricNamesDropped,
  nodeDerpHomeRegion,
  nodeHealthMessages,
  nodeIo,
  nodePackets,
  nodePacketsDropped,
  nodePeerRelayEndpoints,
  nodePeerRelayIo,
  nodePeerRelayPackets,
  nodeUp,
]);
