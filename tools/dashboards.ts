/**
 * Writes `deploy/grafana/*.json` from the catalogue: names, labels and units of the panels come from
 * its rows, so that a renamed metric changes the dashboards or fails here.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { familyName } from "../src/kernel/telemetry/exposition/naming.ts";
import { processMetricRows } from "../src/kernel/telemetry/report/service-metrics.ts";
import type { AnyRow } from "../src/kernel/telemetry/types.ts";
import { monitorMetrics } from "../src/monitor/catalogue/monitor-catalogue.ts";
import { dedupMetrics } from "../src/dedup/telemetry/metrics.ts";
import { tokensMetrics } from "../src/tokens/telemetry/metrics.ts";

const DIRECTORY = join(import.meta.dirname, "../deploy/grafana");
/** The classic schema of Grafana 11, which later releases convert when they load it. */
const SCHEMA_VERSION = 39;
const COLUMNS = 24;
const PANEL_WIDTH = 8;
const PANEL_HEIGHT = 8;

/** Every metric that Steward can emit, by its OpenTelemetry name. */
export const catalogueRows: ReadonlyMap<string, AnyRow> = new Map(
  [...processMetricRows, ...dedupMetrics, ...tokensMetrics, ...monitorMetrics].map((row) => [
    row.name,
    row,
  ]),
);

/** How the samples of a metric become the lines of a panel. */
type View = "sum" | "max" | "rate" | "p95" | "daysLeft";

interface Panel {
  readonly title: string;
  readonly metric: string;
  readonly view: View;
  /** Labels as in Prometheus; one line for each combination. */
  readonly by?: readonly string[];
  /** Further matchers, e.g. `state="held"`. */
  readonly where?: string;
  /** At most this many lines. */
  readonly top?: number;
}

interface Dashboard {
  readonly file: string;
  readonly title: string;
  /** Series of a network are chosen by its name, others by instance. */
  readonly perNetwork: boolean;
  readonly panels: readonly Panel[];
}

function panel(
  title: string,
  metric: string,
  view: View,
  by: readonly string[] = [],
  rest: Pick<Panel, "where" | "top"> = {},
): Panel {
  return { title, metric, view, by, ...rest };
}

const dashboards: readonly Dashboard[] = [
  {
    file: "network",
    title: "Steward: network",
    perNetwork: true,
    panels: [
      panel("Devices online", "vpn.device.online", "sum"),
      panel("Devices by system", "vpn.devices.count", "sum", ["os_type"]),
      panel("Clients by version", "vpn.devices.by_version", "sum", ["vpn_client_version"]),
      panel("Days until a node key expires", "vpn.device.key.expiry", "daysLeft", ["host_name"], {
        top: 20,
      }),
      panel("Days until a credential expires", "vpn.key.expiry", "daysLeft", [
        "vpn_key_id",
        "vpn_key_type",
      ]),
      panel("Clients with an update waiting", "vpn.device.update_available", "sum"),
      panel("Users", "vpn.users.count", "sum", ["vpn_user_role"]),
      panel("Unrestricted policy rules", "vpn.acl.unrestricted_rules", "sum", ["vpn_acl_section"]),
      panel("Routes without approval", "vpn.subnet_routes.unapproved", "sum"),
      panel("Lowest latency to a relay", "vpn.derp.region.latency_min", "max", ["vpn_derp_region"]),
      panel("Configuration changes", "vpn.config.audit.events", "rate", ["vpn_audit_action"]),
      panel("Age of collected data", "svc.scrape.staleness", "max", ["vpn_collector"]),
    ],
  },
  {
    file: "traffic",
    title: "Steward: traffic",
    perNetwork: true,
    panels: [
      panel("Traffic by type", "vpn.network.io.rollup", "rate", [
        "vpn_traffic_type",
        "network_io_direction",
      ]),
      panel("Busiest sources", "vpn.network.io.rollup", "rate", ["vpn_src_node"], { top: 10 }),
      panel("Busiest destinations", "vpn.network.io.rollup", "rate", ["vpn_dst_node"], { top: 10 }),
      panel("Services", "vpn.network.io.rollup", "rate", ["vpn_dst_service"], { top: 10 }),
      panel("Direct and relayed", "vpn.network.io.rollup", "rate", ["vpn_path"], {
        where: 'vpn_path!=""',
      }),
      panel("Packets by transport", "vpn.network.packets.rollup", "rate", ["network_transport"]),
      panel("Connections", "vpn.network.flows", "rate", ["vpn_traffic_type"]),
      panel("Peers per source", "vpn.network.unique.dst_peers", "max", ["vpn_src_node"], {
        top: 10,
      }),
      panel("Exit nodes", "vpn.exit_node.io", "rate", ["vpn_exit_node", "network_io_direction"]),
      panel("Traffic that nodes report", "vpn.node.io", "rate", ["vpn_node"], { top: 10 }),
    ],
  },
  {
    file: "tokens",
    title: "Steward: tokens",
    perNetwork: false,
    panels: [
      panel("Sealed", "svc.tokens.sealed", "max", ["instance"]),
      panel("Mint requests", "svc.tokens.mints", "rate", ["mount", "outcome"]),
      panel("Mint duration, 95th percentile", "svc.tokens.mint.duration", "p95", ["mount"]),
      panel("Requests by outcome", "svc.tokens.requests", "rate", ["operation", "outcome"]),
      panel("Leases", "svc.tokens.leases", "sum", ["state"]),
      panel("Tokens without a lease", "svc.tokens.orphans", "sum"),
      panel("Service tokens", "svc.tokens.stored", "sum"),
      panel("Audit records", "svc.tokens.audit.records", "rate", ["type"]),
    ],
  },
  {
    file: "archive",
    title: "Steward: archive",
    perNetwork: false,
    panels: [
      panel("Finished jobs", "svc.jobs_total", "sum", ["type", "outcome"]),
      panel("Running jobs", "svc.jobs.running", "sum", ["type"]),
      panel("Job duration, 95th percentile", "svc.jobs.duration", "p95", ["type"]),
      panel("Rows", "svc.state.rows", "max", ["environment", "table"], {
        where: 'environment=~"dedup.*"',
        top: 20,
      }),
      panel("Store size", "svc.state.size", "max", ["environment"], {
        where: 'environment=~"dedup.*"',
      }),
      panel("Worker tasks running", "svc.pool.tasks.running", "sum"),
      panel("Worker tasks waiting", "svc.pool.tasks.queued", "sum"),
    ],
  },
  {
    file: "steward",
    title: "Steward: the daemon itself",
    perNetwork: false,
    panels: [
      panel("Version", "svc.build_info", "max", ["version", "instance"]),
      panel("Uptime", "process.uptime", "max", ["instance"]),
      panel("CPU", "process.cpu.time", "rate", ["cpu_mode"]),
      panel("Resident memory", "process.resident_memory", "max", ["instance"]),
      panel("Open file descriptors", "process.open_fds", "max", ["instance"]),
      panel("Open connections", "svc.gateway.connections", "sum"),
      panel("Requests", "svc.gateway.requests", "rate", ["protocol", "code"]),
      panel("Request duration, 95th percentile", "svc.gateway.request.duration", "p95", ["route"], {
        top: 10,
      }),
      panel("Refused requests", "svc.gateway.refused", "rate", ["reason"]),
      panel("Component failures", "svc.component.errors", "rate", ["component"]),
      panel("Store size", "svc.state.size", "max", ["environment"]),
      panel("Commit duration, 95th percentile", "svc.state.commit.duration", "p95", [
        "environment",
      ]),
      panel("Upstream requests", "svc.api.requests", "rate", [
        "endpoint",
        "http_response_status_code",
      ]),
      panel("Collector success", "svc.scrape.success", "max", ["vpn_collector"]),
      panel("Active series", "svc.series.active", "max", ["metric_name"], { top: 20 }),
      panel("Metrics at their series limit", "svc.series.overflowing", "sum"),
    ],
  },
];

/** The dashboards as JSON text, by path below `deploy/grafana`. */
export function dashboardFiles(): Map<string, string> {
  return new Map(
    dashboards.map((dashboard) => [
      `${dashboard.file}.json`,
      `${JSON.stringify(grafanaDashboard(dashboard), null, 2)}\n`,
    ]),
  );
}

/** Writes the dashboards. */
export function writeDashboards(): void {
  mkdirSync(DIRECTORY, { recursive: true });
  for (const [file, text] of dashboardFiles()) writeFileSync(join(DIRECTORY, file), text);
}

function grafanaDashboard({ file, title, perNetwork, panels }: Dashboard): unknown {
  return {
    uid: `steward-${file}`,
    title,
    tags: ["steward"],
    schemaVersion: SCHEMA_VERSION,
    editable: true,
    graphTooltip: 1,
    refresh: "1m",
    time: { from: "now-6h", to: "now" },
    templating: { list: variables(perNetwork) },
    panels: panels.map((each, index) => grafanaPanel(each, index, perNetwork)),
  };
}

function variables(perNetwork: boolean): unknown[] {
  const up = familyName(rowOf("svc.up"));
  const choice = (name: string, title: string, metric: string, label: string) => ({
    name,
    label: title,
    type: "query",
    datasource: { type: "prometheus", uid: "${datasource}" },
    query: { query: `label_values(${metric}, ${label})`, refId: name },
    refresh: 2,
    sort: 1,
    includeAll: true,
    multi: true,
    // Also matches series without the label: the name of a network may be hidden.
    allValue: ".*",
    current: { text: "All", value: "$__all" },
  });
  const success = familyName(rowOf("svc.scrape.success"));
  return [
    { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" },
    choice("instance", "Instance", up, "instance"),
    ...(perNetwork ? [choice("network", "Network", success, "vpn_network")] : []),
  ];
}

function grafanaPanel(each: Panel, index: number, perNetwork: boolean): unknown {
  const row = rowOf(each.metric);
  const datasource = { type: "prometheus", uid: "${datasource}" };
  const perRow = COLUMNS / PANEL_WIDTH;
  return {
    id: index + 1,
    type: "timeseries",
    title: each.title,
    description: row.help,
    datasource,
    gridPos: {
      x: (index % perRow) * PANEL_WIDTH,
      y: Math.floor(index / perRow) * PANEL_HEIGHT,
      w: PANEL_WIDTH,
      h: PANEL_HEIGHT,
    },
    fieldConfig: { defaults: { unit: unitOf(row, each.view) }, overrides: [] },
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi" } },
    targets: [
      {
        refId: "A",
        datasource,
        expr: expression(each, row, perNetwork),
        legendFormat: (each.by ?? []).map((label) => `{{${label}}}`).join(" ") || each.title,
      },
    ],
  };
}

function expression({ by = [], where, top, view }: Panel, row: AnyRow, network: boolean): string {
  const matchers = ['instance=~"$instance"', ...(network ? ['vpn_network=~"$network"'] : [])];
  if (where !== undefined) matchers.push(where);
  const series = (suffix = "") => `${familyName(row)}${suffix}{${matchers.join(",")}}`;
  const lines = by.length === 0 ? "" : ` by (${by.join(", ")})`;
  const all: Record<View, () => string> = {
    sum: () => `sum${lines} (${series()})`,
    max: () => `max${lines} (${series()})`,
    rate: () => `sum${lines} (rate(${series()}[$__rate_interval]))`,
    p95: () =>
      `histogram_quantile(0.95, sum by (${["le", ...by].join(", ")}) (rate(${series("_bucket")}[$__rate_interval])))`,
    daysLeft: () => `min${lines} ((${series()} - time()) / 86400)`,
  };
  const text = all[view]();
  if (top === undefined) return text;
  return `${view === "daysLeft" ? "bottomk" : "topk"}(${top}, ${text})`;
}

/** Grafana's identifier of a unit. A ratio of the catalogue is a count or a flag, never a percentage. */
function unitOf(row: AnyRow, view: View): string {
  if (view === "daysLeft") return "d";
  if (view === "rate") return row.unit === "By" ? "Bps" : row.unit === "s" ? "percentunit" : "cps";
  return row.unit === "By" ? "bytes" : row.unit === "s" ? "s" : row.unit === "d" ? "d" : "short";
}

function rowOf(name: string): AnyRow {
  const row = catalogueRows.get(name);
  if (row === undefined) throw new Error(`no metric ${name} in the catalogue`);
  return row;
}
