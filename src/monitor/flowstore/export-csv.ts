/**
 * Writes an export as CSV in slices, as `export-json.ts` does. The columns and their order are its
 * contract.
 */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { FlowExport } from "../../gen/flows-json.ts";
import { FlowExportSchema } from "../../gen/steward/monitor/v1/flows_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import { csvRow, type Cell } from "../../kernel/base/text/csv.ts";
import { formatTime } from "../../kernel/wire/time.ts";
import { plainMessage } from "../../kernel/wire/write.ts";
import { flowExport, type FlowExportAnswer } from "./flow-export.ts";
import type { Counters } from "../flows/record.ts";
import type { StoredFlow } from "./types.ts";

/** Characters of a piece. */
const PIECE = 256 * 1024;

type Column = readonly [name: string, cell: (flow: StoredFlow) => Cell];

const field = (name: string, key: keyof StoredFlow): Column => [name, (flow) => flow[key]];
const count = (name: string, key: keyof Counters): Column => [
  name,
  (flow) => Math.min(flow[key], Number.MAX_SAFE_INTEGER),
];

const COLUMNS: readonly Column[] = [
  ["time", ({ timeMs }) => formatTime(timestampFromMs(timeMs), "seconds")],
  field("traffic_type", "trafficType"),
  field("transport", "transport"),
  field("src_addr", "srcAddr"),
  field("dst_addr", "dstAddr"),
  field("src_node", "srcNode"),
  field("dst_node", "dstNode"),
  field("dst_service", "dstService"),
  field("src_user", "srcUser"),
  field("dst_user", "dstUser"),
  field("src_tags", "srcTags"),
  field("dst_tags", "dstTags"),
  field("src_os", "srcOs"),
  field("dst_os", "dstOs"),
  field("reporter_node_id", "reporterNodeId"),
  field("reporter_trust", "reporterTrust"),
  field("reporter_consistency", "reporterConsistency"),
  field("verdict", "verdict"),
  field("reversed", "reversed"),
  field("rule", "rule"),
  field("policy_version", "policyVersion"),
  field("path", "path"),
  field("derp_region", "derpRegion"),
  count("tx_bytes", "txBytes"),
  count("rx_bytes", "rxBytes"),
  count("tx_packets", "txPackets"),
  count("rx_packets", "rxPackets"),
  ["flows", () => 1],
];

/**
 * Comments, the names of the columns, and a line a connection; lines end with LF. Rejects with the
 * signal's reason.
 */
export async function exportCsv(
  answer: FlowExportAnswer,
  signal: AbortSignal,
): Promise<{ readonly name: string; readonly pieces: readonly Uint8Array[] }> {
  const turns = new Turns();
  const envelope = plainMessage(
    FlowExportSchema,
    create(FlowExportSchema, flowExport(answer)),
  ) as unknown as FlowExport;
  const pieces: Uint8Array[] = [];
  let text = commentsOf(envelope)
    .map((line) => `# ${line.replaceAll(/[\r\n]/g, " ")}\n`)
    .join("");
  text += lineOf(COLUMNS.map(([name]) => name));
  for (const row of answer.page.rows) {
    if (turns.over) await turns.give(signal);
    text += lineOf(COLUMNS.map(([, cell]) => cell(row)));
    if (text.length < PIECE) continue;
    pieces.push(Buffer.from(text));
    text = "";
  }
  if (text !== "") pieces.push(Buffer.from(text));
  return { name: fileNameOf(envelope), pieces };
}

function fileNameOf(flows: FlowExport): string {
  const stamp = flows.generated_at.replaceAll(/[-:]|\.\d+/g, "");
  const network = flows.network.replaceAll(/[^A-Za-z0-9._-]/g, "_");
  return `steward-flows-${network}-${stamp}.csv`;
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
