/**
 * `GET /api/flows/export.csv`: what `/api/flows/export.json` answers as a table. The columns and
 * their order are its contract.
 */
import type { Flow, FlowExport } from "../../gen/flows-json.ts";
import { Access } from "../../gen/steward/options/v1/options_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import { csvRow, type Cell } from "../../kernel/base/text/csv.ts";
import type { PlainRoute } from "../../kernel/service.ts";
import type { ThreadHost } from "../../kernel/threads/hosted-service.ts";
import { readFlowExport } from "./read-flows.ts";

/** The route without its handler. */
export const FLOWS_CSV_ROUTE: Omit<PlainRoute, "handle"> = {
  verb: "GET",
  template: "/api/flows/export.csv",
  access: Access.ADMIN,
  dialect: "monitor",
  describe: {
    operationId: "monitorExportFlowsCsv",
    tag: "monitor.FlowService",
    text: "Downloads the connections of a window as CSV. Lines that begin with # say what it holds.",
    answer: "CSV with a row for each connection.",
    contentType: "text/csv",
    query: {
      network: "Name of the network; all of them if empty.",
      window: "Length of the window, such as 90s or 6h; 1h by default.",
      end: "End of the window; now by default.",
      device: "Part of the node name of source or destination.",
      addr: "Part of the address of source or destination.",
      service: "Part of the service of the destination.",
      identity: "Part of user or tags of source or destination.",
      type: "virtual, subnet, exit or physical.",
      verdict: "permitted, no_rule or undetermined.",
      path: "direct_ipv4, direct_ipv6 or derp.",
    },
  },
};

type Column = readonly [name: string, cell: (flow: Flow) => Cell];

const text = (name: keyof Flow): Column => [name, (flow) => flow[name] as Cell];
const count = (name: keyof Flow["counts"]): Column => [name, ({ counts }) => counts[name]];

const COLUMNS: readonly Column[] = [
  ["time", ({ time }) => time.replace(/\.\d+/, "")],
  text("traffic_type"),
  text("transport"),
  text("src_addr"),
  text("dst_addr"),
  text("src_node"),
  text("dst_node"),
  text("dst_service"),
  text("src_user"),
  text("dst_user"),
  text("src_tags"),
  text("dst_tags"),
  text("src_os"),
  text("dst_os"),
  text("reporter_node_id"),
  text("reporter_trust"),
  text("reporter_consistency"),
  text("verdict"),
  ["reversed", ({ reversed }) => reversed ?? false],
  text("rule"),
  text("policy_version"),
  text("path"),
  text("derp_region"),
  count("tx_bytes"),
  count("rx_bytes"),
  count("tx_packets"),
  count("rx_packets"),
  count("flows"),
];

export function flowsCsvRoute(monitor: {
  readonly component: Pick<ThreadHost, "call">;
}): PlainRoute {
  return {
    ...FLOWS_CSV_ROUTE,
    async handle({ query }, { signal, requestId }) {
      const json = await readFlowExport(monitor.component, query.toString(), { signal, requestId });
      const flows = JSON.parse(Buffer.from(json).toString()) as FlowExport;
      const stamp = flows.generated_at.replaceAll(/[-:]|\.\d+/g, "");
      const network = flows.network.replaceAll(/[^A-Za-z0-9._-]/g, "_");
      return {
        status: 200,
        headers: {
          "content-type": "text/csv; charset=utf-8",
          "content-disposition": `attachment; filename="steward-flows-${network}-${stamp}.csv"`,
          "cache-control": "no-store",
        },
        body: await flowsCsv(flows, signal),
      };
    },
  };
}

/** Comments, the names of the columns, and a line a connection; lines end with LF. */
async function flowsCsv(flows: FlowExport, signal: AbortSignal): Promise<string> {
  const turns = new Turns();
  const lines = [
    ...commentsOf(flows).map((line) => `# ${line.replaceAll(/[\r\n]/g, " ")}\n`),
    lineOf(COLUMNS.map(([name]) => name)),
  ];
  for (const flow of flows.rows) {
    if (turns.over) await turns.give(signal);
    lines.push(lineOf(COLUMNS.map(([, cell]) => cell(flow))));
  }
  return lines.join("");
}

function commentsOf({ filters, window, ...flows }: FlowExport): readonly string[] {
  const selected = Object.entries(filters ?? {}).map(([name, value]) => `${name}=${value}`);
  return [
    `schema_version=${flows.schema_version}`,
    "Steward flow export",
    `generated_at=${flows.generated_at}`,
    `network=${flows.network}`,
    `window_start=${window.start} window_end=${window.end}`,
    `filters=${selected.length === 0 ? "none" : selected.join(" ")}`,
    `source=${flows.source} (${flows.source_note})`,
    `matched=${flows.matched} returned=${flows.returned} retained=${flows.retained} truncated=${flows.truncated}`,
  ];
}

function lineOf(cells: readonly Cell[]): string {
  return csvRow(cells).replace(/\r\n$/, "\n");
}
