/** Writes the answer of `ExportFlows`. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { FlowExportSchema } from "../../gen/steward/monitor/v1/flows_pb.ts";
import { schemaVersion } from "../../kernel/wire/style.ts";
import type { FlowStores } from "./flow-store.ts";
import { shownFilters, shownNetwork, type FlowAnswer } from "./flow-document.ts";

export type FlowExportAnswer = Pick<
  FlowAnswer,
  "shown" | "nowMs" | "startMs" | "endMs" | "filter" | "page"
> & { readonly stores: Pick<FlowStores, "kind" | "maxExportRows"> };

/** Without its rows. */
export function flowExport({
  stores,
  shown,
  nowMs,
  startMs,
  endMs,
  filter,
  page,
}: FlowExportAnswer): MessageInitShape<typeof FlowExportSchema> {
  return {
    schemaVersion: schemaVersion(FlowExportSchema),
    generatedAt: timestampFromMs(nowMs),
    network: shownNetwork(shown),
    window: { start: timestampFromMs(startMs), end: timestampFromMs(endMs) },
    ...shownFilters(filter),
    ...sourceOf(stores),
    matched: page.matched,
    returned: page.rows.length,
    retained: page.retained,
    truncated: page.isFull || page.matched > page.rows.length,
  };
}

function sourceOf({ kind, maxExportRows }: Pick<FlowStores, "kind" | "maxExportRows">): {
  readonly source: string;
  readonly sourceNote: string;
} {
  return kind === "memory"
    ? {
        source: "recent_ring",
        sourceNote:
          "the newest connections of each network in memory, as many as flows.capacity_profile allows",
      }
    : {
        source: kind,
        sourceNote: `the newest connections on disk, at most ${maxExportRows} as flows.store.max_export_rows allows`,
      };
}
