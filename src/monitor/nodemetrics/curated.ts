/** Well-known node agent metrics under Steward's names, with a bounded set of label values. */
import type { Scope, Sweep } from "../../kernel/telemetry/types.ts";
import {
  nodeDerpHomeRegion,
  nodeHealthMessages,
  nodeIo,
  nodePackets,
  nodePacketsDropped,
  nodePeerRelayEndpoints,
  nodePeerRelayIo,
  nodePeerRelayPackets,
} from "../catalogue/node-metrics.ts";
import type { Sample } from "./exposition.ts";

const DROP_REASONS: ReadonlySet<string> = new Set([
  "acl",
  "multicast",
  "link_local_unicast",
  "too_short",
  "fragment",
  "unknown_protocol",
  "error",
]);
const TRANSPORTS: ReadonlySet<string> = new Set(["udp4", "udp6"]);
const RELAY_STATES: ReadonlySet<string> = new Set(["connecting", "open"]);

/** `delta` is greater than 0. */
type AddGrowth = (scope: Scope, node: string, labels: Sample["labels"], delta: number) => void;
type SetLevel = (
  sweep: Pick<Sweep, "gauge">,
  node: string,
  labels: Sample["labels"],
  value: number,
) => void;

/** Counters, by the agent's metric name. */
export const curatedTotals: ReadonlyMap<string, AddGrowth> = new Map<string, AddGrowth>([
  ...(["inbound", "outbound"] as const).flatMap((side): [string, AddGrowth][] => {
    const direction = side === "inbound" ? "receive" : "transmit";
    return [
      [
        `tailscaled_${side}_bytes_total`,
        (scope, node, labels, delta) =>
          scope.add(nodeIo, delta, {
            "vpn.node": node,
            "network.io.direction": direction,
            "vpn.path": foldPath(labels.get("path")),
          }),
      ],
      [
        `tailscaled_${side}_packets_total`,
        (scope, node, labels, delta) =>
          scope.add(nodePackets, delta, {
            "vpn.node": node,
            "network.io.direction": direction,
            "vpn.path": foldPath(labels.get("path")),
          }),
      ],
      [
        `tailscaled_${side}_dropped_packets_total`,
        (scope, node, labels, delta) =>
          scope.add(nodePacketsDropped, delta, {
            "vpn.node": node,
            "network.io.direction": direction,
            "vpn.drop.reason": foldInto(DROP_REASONS, labels.get("reason")),
          }),
      ],
    ];
  }),
  [
    "tailscaled_peer_relay_forwarded_bytes_total",
    (scope, node, labels, delta) =>
      scope.add(nodePeerRelayIo, delta, { "vpn.node": node, ...transportsOf(labels) }),
  ],
  [
    "tailscaled_peer_relay_forwarded_packets_total",
    (scope, node, labels, delta) =>
      scope.add(nodePeerRelayPackets, delta, { "vpn.node": node, ...transportsOf(labels) }),
  ],
]);

/** Gauges, by the agent's metric name. */
export const curatedLevels: ReadonlyMap<string, SetLevel> = new Map<string, SetLevel>([
  [
    "tailscaled_health_messages",
    (sweep, node, labels, value) =>
      sweep.gauge(nodeHealthMessages, value, {
        "vpn.node": node,
        "vpn.health.type": labels.get("type") ?? "",
      }),
  ],
  [
    "tailscaled_home_derp_region_id",
    (sweep, node, _labels, value) => sweep.gauge(nodeDerpHomeRegion, value, { "vpn.node": node }),
  ],
  [
    "tailscaled_peer_relay_endpoints",
    (sweep, node, labels, value) =>
      sweep.gauge(nodePeerRelayEndpoints, value, {
        "vpn.node": node,
        "vpn.peer_relay.state": foldInto(RELAY_STATES, labels.get("state")),
      }),
  ],
]);

function foldPath(path: string | undefined): "derp" | "direct" | "peer_relay" | "other" {
  if (path === "derp") return "derp";
  if (path?.startsWith("direct") === true) return "direct";
  return path?.startsWith("peer_relay") === true ? "peer_relay" : "other";
}

function foldInto(known: ReadonlySet<string>, value: string | undefined): string {
  return value !== undefined && known.has(value) ? value : "other";
}

function transportsOf(labels: Sample["labels"]): {
  readonly "vpn.peer_relay.transport_in": string;
  readonly "vpn.peer_relay.transport_out": string;
} {
  return {
    "vpn.peer_relay.transport_in": foldInto(TRANSPORTS, labels.get("transport_in")),
    "vpn.peer_relay.transport_out": foldInto(TRANSPORTS, labels.get("transport_out")),
  };
}
