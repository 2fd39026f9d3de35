/**
 * The metrics that each node offers about itself: the text of the node agent, with counters that
 * grow with time.
 */
import {
  startControlPlane,
  type ControlPlane,
  type ControlPlaneDeps,
} from "../control-plane/server.ts";
import { createRoutes } from "../routes.ts";
import type { Device } from "./devices.ts";
import type { Network } from "./network.ts";

/** The only resource: `/<node>/metrics`, by host name, stable or decimal id. */
type AgentOperation = "metrics" | "unknown";

/** Which nodes. */
export interface NodeAgentsOptions extends ControlPlaneDeps {
  readonly network: Network;
  /** Default any free. */
  readonly port?: number;
}

/** One port in front of all nodes. Nodes that are not connected are 502, as from a proxy. */
export interface NodeAgents extends ControlPlane<AgentOperation> {
  /** The address of one node's metrics. */
  urlOf(node: string): string;
}

const HEADERS: Readonly<Record<string, string>> = {
  "cross-origin-resource-policy": "same-origin",
  "x-frame-options": "DENY",
};
const TEXT = "text/plain;version=0.0.4;charset=utf-8";
const PATHS = ["derp", "direct_ipv4", "direct_ipv6", "peer_relay_ipv4", "peer_relay_ipv6"] as const;
const DAY_MS = 86_400_000;

/** Listens on loopback when it resolves. */
export async function startNodeAgents({
  network,
  clock,
  ids,
  log,
  port,
}: NodeAgentsOptions): Promise<NodeAgents> {
  const refuse = (status: number, message: string) => ({
    status,
    body: `${message}\n`,
    headers: { "content-type": "text/plain; charset=utf-8" },
  });
  const plane = await startControlPlane<AgentOperation>(
    {
      name: "demo node agents",
      routes: createRoutes<AgentOperation>([["GET", "/:node/metrics", "metrics"]]),
      elsewhere: "unknown",
      headers: HEADERS,
      gzip: false,
      refuse,
      ...(port === undefined ? {} : { port }),
      answer({ operation, params: [node = ""], nowMs }) {
        if (operation === "unknown") return refuse(404, "404 page not found");
        const device =
          network.devices.find(node, nowMs) ??
          network.devices.at(nowMs).find(({ host }) => host === node);
        if (device === undefined) return refuse(404, "404 page not found");
        return device.online
          ? { status: 200, body: nodeMetrics(device, nowMs), headers: { "content-type": TEXT } }
          : refuse(502, "node is not connected");
      },
    },
    { clock, ids, log },
  );
  return Object.assign(plane, {
    urlOf: (node: string) => `${plane.url}/${encodeURIComponent(node)}/metrics`,
  });
}

/**
 * The exposition of one node: TYPE before HELP, and one family without a sample. Counters begin
 * anew when the node connects, and each day as if it had restarted.
 */
export function nodeMetrics(device: Device, nowMs: number): string {
  const { machine } = device;
  const seconds = Math.floor(
    (nowMs - Math.max(device.connectedMs, nowMs - (nowMs % DAY_MS))) / 1000,
  );
  const relayed = machine.index % 4 === 1;
  const byPath = (perSecond: number) =>
    PATHS.map(
      (path) =>
        [
          `path="${path}"`,
          path === (relayed ? "derp" : "direct_ipv4") ? seconds * perSecond : 0,
        ] as const,
    );
  const rate = 1 + (machine.index % 7);
  return [
    ...family("advertised_routes", "gauge", "Number of advertised network routes", [
      ["", machine.advertisedRoutes.length],
    ]),
    ...family("approved_routes", "gauge", "Number of approved network routes", [
      ["", device.enabledRoutes.length],
    ]),
    ...family("health_messages", "gauge", "Number of health messages broken down by type", [
      ['type="warning"', machine.index % 9 === 0 ? 1 : 0],
    ]),
    ...family("home_derp_region_id", "gauge", "DERP region ID of node's home relay server", [
      ["", machine.region],
    ]),
    ...family(
      "inbound_bytes_total",
      "counter",
      "Counts the number of bytes received from other peers",
      byPath(rate * 125),
    ),
    ...family(
      "inbound_dropped_packets_total",
      "counter",
      "Counts the number of dropped packets received by the node from other peers",
      [],
    ),
    ...family(
      "inbound_packets_total",
      "counter",
      "Counts the number of packets received from other peers",
      byPath(rate),
    ),
    ...family(
      "outbound_bytes_total",
      "counter",
      "Counts the number of bytes sent to other peers",
      byPath(rate * 94),
    ),
    ...family(
      "outbound_dropped_packets_total",
      "counter",
      "Counts the number of packets dropped while being sent to other peers",
      [['reason="error"', Math.floor(seconds / 3600)]],
    ),
    ...family(
      "outbound_packets_total",
      "counter",
      "Counts the number of packets sent to other peers",
      byPath(rate),
    ),
    "",
  ].join("\n");
}

function family(
  name: string,
  type: "gauge" | "counter",
  help: string,
  samples: readonly (readonly [labels: string, value: number])[],
): string[] {
  const full = `tailscaled_${name}`;
  return [
    `# TYPE ${full} ${type}`,
    `# HELP ${full} ${help}`,
    ...samples.map(([labels, value]) => `${full}${labels === "" ? "" : `{${labels}}`} ${value}`),
  ];
}
