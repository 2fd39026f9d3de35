/** Answers `QueryFlows` from the stores. */
import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  FlowService,
  type QueryFlowsRequest,
} from "../../gen/steward/monitor/v1/flow_service_pb.ts";
import { FlowExportSchema, FlowReportSchema } from "../../gen/steward/monitor/v1/flows_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { parseDuration } from "../../kernel/config/values/units.ts";
import { bindService, type BoundService } from "../../kernel/service.ts";
import { readCursor } from "./cursor.ts";
import { flowDocument } from "./flow-document.ts";
import { flowExport } from "./flow-export.ts";
import type { FlowStore } from "./flow-store.ts";
import type { FlowStores } from "./flow-stores.ts";
import { selectRecent, type FlowFilter } from "./recent-query.ts";
import { sumWindow } from "./sum-query.ts";

const DEFAULT_WINDOW_MS = 3_600_000;
const MIN_WINDOW_MS = 60_000;
const DEFAULT_TOP = 20;
const MAX_TOP = 200;
const DEFAULT_RECENT = 200;
const MAX_RECENT = 1_000;
/** Longer texts are no duration. */
const MAX_DURATION_LENGTH = 64;

/** Without stores every call fails with `not_found`. */
export function createFlowApi(
  clock: Pick<Clock, "now">,
  stores: FlowStores | undefined,
): BoundService {
  return bindService(FlowService, {
    async queryFlows(request, { signal }) {
      const { shown, window, filter, nowMs, all, retentionMs } = questionOf(clock, stores, request);
      const sums = await sumWindow(
        shown,
        { ...window, top: clamp(request.top ?? DEFAULT_TOP, 1, MAX_TOP) },
        signal,
      );
      const page = selectRecent(shown, {
        ...window,
        filter,
        limit: clamp(request.recent ?? DEFAULT_RECENT, 0, MAX_RECENT),
        before: readCursor(request.cursor),
      });
      const networks = all.map(({ network }) => network);
      const answer = { stores: shown, networks, nowMs, retentionMs, filter, sums, page, ...window };
      return { flows: create(FlowReportSchema, flowDocument(answer)) };
    },
    exportFlows(request) {
      const { shown, window, filter, nowMs } = questionOf(clock, stores, request);
      const page = selectRecent(shown, {
        ...window,
        filter,
        limit: Number.POSITIVE_INFINITY,
        before: undefined,
      });
      const answer = { stores: shown, nowMs, filter, page, ...window };
      return { export: create(FlowExportSchema, flowExport(answer)) };
    },
  });
}

/** What both methods ask. Throws `not_found` where nothing is stored, or for an unknown network. */
function questionOf(
  clock: Pick<Clock, "now">,
  stores: FlowStores | undefined,
  request: Pick<QueryFlowsRequest, "network" | "window" | "end" | keyof FlowFilter>,
) {
  if (stores === undefined)
    throw new StewardError(
      "not_found",
      "flows are not stored: no network has flow logs, or flows.enabled is false",
    );
  const nowMs = clock.now();
  const { retentionMs } = stores.options;
  return {
    shown: storesOf(stores, request.network),
    all: stores.all,
    nowMs,
    retentionMs,
    window: windowOf(request, { nowMs, retentionMs }),
    filter: filterOf(request),
  };
}

/** Throws `not_found` for an unknown network. */
function storesOf({ all }: FlowStores, network: string): readonly FlowStore[] {
  if (network === "") return all;
  const found = all.filter((store) => store.network === network);
  if (found.length > 0) return found;
  throw new StewardError(
    "not_found",
    `no flows are stored of a network ${JSON.stringify(network.slice(0, 40))}; see "networks" of the answer without network`,
    { field: "network" },
  );
}

function windowOf(
  request: Pick<QueryFlowsRequest, "window" | "end">,
  { nowMs, retentionMs }: { readonly nowMs: number; readonly retentionMs: number },
): { readonly startMs: number; readonly endMs: number } {
  const text = request.window.length > MAX_DURATION_LENGTH ? "" : request.window;
  const windowMs = clamp(
    parseDuration(text) || DEFAULT_WINDOW_MS,
    MIN_WINDOW_MS,
    Math.max(MIN_WINDOW_MS, retentionMs),
  );
  const wantedMs = request.end === undefined ? nowMs : timestampMs(request.end);
  const endMs = clamp(wantedMs, nowMs - retentionMs, nowMs);
  return { startMs: endMs - windowMs, endMs };
}

function filterOf(request: FlowFilter): FlowFilter {
  const { device, addr, service, identity, type, verdict, path } = request;
  return { device, addr, service, identity, type, verdict, path };
}

function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
