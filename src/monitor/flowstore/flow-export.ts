/** Writes the answer of `ExportFlows`. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { FlowExportSchema } from "../../gen/steward/monitor/v1/flows_pb.ts";
import { schemaVersion } from "../../kernel/wire/style.ts";
import { rowOf, shownFilters, shownNetwork, type FlowAnswer } from "./flow-document.ts";

export function flowExport({
  stores,
  nowMs,
  startMs,
  endMs,
  filter,
  page,
}: Pick<
  FlowAnswer,
  "stores" | "nowMs" | "startMs" | "endMs" | "filter" | "page"
>): MessageInitShape<typeof FlowExportSchema> {
  return {
    schemaVersion: schemaVersion(FlowExportSchema),
    generatedAt: timestampFromMs(nowMs),
    network: shownNetwork(stores),
    window: { start: timestampFromMs(startMs), end: timestampFromMs(endMs) },
    ...shownFilters(filter),
    source: "recent_ring",
    sourceNote:
      "the newest connections of each network in memory, as many as flows.capacity_profile allows",
    matched: page.matched,
    returned: page.rows.length,
    retained: page.retained,
    truncated: page.isFull,
    rows: page.rows.map(rowOf),
  };
}
