/** What a request asks of the stores, and the connections of an export. */
import { timestampMs } from "@bufbuild/protobuf/wkt";
import type {
  ExportFlowsRequest,
  QueryFlowsRequest,
} from "../../gen/steward/monitor/v1/flow_service_pb.ts";
import { withDeadline } from "../../kernel/async/deadline.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { parseDuration } from "../../kernel/config/values/units.ts";
import type { FlowExportAnswer } from "./flow-export.ts";
import type { FlowFilter, FlowStore, FlowStores, FlowWindow } from "./flow-store.ts";
import { selectRecent } from "./recent-query.ts";

const DEFAULT_WINDOW_MS = 3_600_000;
const MIN_WINDOW_MS = 60_000;
/** Longer texts are no duration. */
const MAX_DURATION_LENGTH = 64;

export interface AskedStores {
  readonly clock: Clock;
  /** Undefined where no flows are stored. */
  readonly stores: FlowStores | undefined;
}

/** Throws as `questionOf` does, and the signal's reason. */
export async function exportedFlows(
  { clock, stores }: AskedStores,
  request: ExportFlowsRequest,
  signal: AbortSignal,
): Promise<FlowExportAnswer> {
  const asked = questionOf({ clock, stores }, request);
  const { shown, window, filter } = asked;
  const query = { ...window, filter, limit: asked.stores.maxExportRows, before: undefined };
  const page = await inTime(clock, asked, signal, (within) => selectRecent(shown, query, within));
  return { ...asked, ...window, page };
}

/** Work within the time that a question to the stores may take. */
export function inTime<T>(
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
export function questionOf(
  { clock, stores }: AskedStores,
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

export function clamp(value: number, least: number, most: number): number {
  return Math.max(least, Math.min(value, most));
}
