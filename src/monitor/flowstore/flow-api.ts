/** Answers `QueryFlows` from the stores. */
import { create } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  FlowService,
  type ExportFlowsRequest,
  type QueryFlowsRequest,
} from "../../gen/steward/monitor/v1/flow_service_pb.ts";
import {
  FlowExportSchema,
  FlowReportSchema,
  FlowSchema,
} from "../../gen/steward/monitor/v1/flows_pb.ts";
import { withDeadline } from "../../kernel/async/deadline.ts";
import { mapInTurns, Turns } from "../../kernel/async/turns.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { parseDuration } from "../../kernel/config/values/units.ts";
import {
  bindService,
  type BoundService,
  type Call,
  type JsonHandler,
} from "../../kernel/service.ts";
import { readCursor } from "./cursor.ts";
import { exportJson } from "./export-json.ts";
import { flowDocument, rowOf } from "./flow-document.ts";
import { flowExport, type FlowExportAnswer } from "./flow-export.ts";
import type { FlowFilter, FlowStore, FlowStores, FlowWindow } from "./flow-store.ts";
import { selectRecent } from "./recent-query.ts";
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
export function createFlowApi(clock: Clock, stores: FlowStores | undefined): BoundService {
  const bound = bindService(FlowService, {
    async queryFlows(request, call) {
      const asked = questionOf(clock, stores, request);
      const { shown, window, filter } = asked;
      const [sums, page] = await inTime(clock, asked, call.signal, async (signal) => {
        const top = clamp(request.top ?? DEFAULT_TOP, 1, MAX_TOP);
        const all = await sumWindow(shown, { ...window, top }, signal);
        const limit = clamp(request.recent ?? DEFAULT_RECENT, 0, MAX_RECENT);
        const before = readCursor(request.cursor);
        return [all, await selectRecent(shown, { ...window, filter, limit, before }, signal)];
      });
      const networks = asked.stores.all.map(({ network }) => network);
      const answer = { ...asked, ...window, shown, networks, sums, page };
      return { flows: create(FlowReportSchema, flowDocument(answer)) };
    },
    async exportFlows(request, call) {
      const answer = await exported(request, call);
      const rows = await mapInTurns(answer.page.rows, new Turns(), (row) =>
        create(FlowSchema, rowOf(row)),
      );
      return { export: create(FlowExportSchema, { ...flowExport(answer), rows }) };
    },
  });
  const json: JsonHandler = async (request, call) =>
    exportJson(await exported(request as ExportFlowsRequest, call), call.signal);
  return {
    ...bound,
    json: (method) => (method.localName === "exportFlows" ? json : undefined),
  };

  async function exported(
    request: ExportFlowsRequest,
    call: Pick<Call, "signal">,
  ): Promise<FlowExportAnswer> {
    const asked = questionOf(clock, stores, request);
    const { shown, window, filter } = asked;
    const query = { ...window, filter, limit: asked.stores.maxExportRows, before: undefined };
    const page = await inTime(clock, asked, call.signal, (signal) =>
      selectRecent(shown, query, signal),
    );
    return { ...asked, ...window, page };
  }
}

/** Work within the time that a question to the stores may take. */
function inTime<T>(
  clock: Clock,
  { stores: { queryTimeoutMs } }: { readonly stores: FlowStores },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (queryTimeoutMs === undefined) return work(signal);
  const reason = (): Error =>
    new StewardError("deadline", "reading the flows takes too long", {
      remedy: "ask for a shorter window, or raise flows.store.query_timeout",
    });
  return withDeadline({ clock, timeoutMs: queryTimeoutMs, signal, reason }, work);
}

/** What both methods ask. Throws `not_found` where nothing is stored, or for an unknown network. */
function questionOf(
  clock: Pick<Clock, "now">,
  stores: FlowStores | undefined,
  request: Pick<QueryFlowsRequest, "network" | "window" | "end" | keyof FlowFilter>,
) {
  if (stores === undefined || stores.all.length === 0)
    throw new StewardError(
      "not_found",
      stores === undefined
        ? "flows are not stored: no network has flow logs, or flows.enabled is false"
        : "flows are not stored: the files in flows.store.directory cannot be used, and the log says why",
    );
  const nowMs = clock.now();
  const { retentionMs } = stores;
  return {
    stores,
    shown: storesOf(stores, request.network),
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
): FlowWindow {
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
