/** Selects single connections: filters, window, page and cursor of `GET /api/flows.json`. */
import { isBefore, type FlowPosition } from "./recent-flows.ts";
import type { FlowStore } from "./flow-store.ts";
import type { StoredFlow } from "./types.ts";

/** Empty texts do not filter. */
export interface FlowFilter {
  readonly device: string;
  readonly addr: string;
  readonly service: string;
  readonly identity: string;
  readonly type: string;
  readonly verdict: string;
  readonly path: string;
}

export interface RecentQuery {
  readonly filter: FlowFilter;
  /** Milliseconds since 1970, both inclusive. */
  readonly startMs: number;
  readonly endMs: number;
  readonly limit: number;
  /** Undefined begins with the newest. */
  readonly before: FlowPosition | undefined;
}

export interface RecentPage {
  /** Newest first. */
  readonly rows: readonly StoredFlow[];
  /** Connections that filters and window select, on all pages. */
  readonly matched: number;
  readonly retained: number;
  /** Some network holds as many connections as it may. */
  readonly isFull: boolean;
  /** Undefined on the last page. */
  readonly next: FlowPosition | undefined;
}

/** Looks at every connection of the stores at once: some thousand for each network. */
export function selectRecent(stores: readonly FlowStore[], query: RecentQuery): RecentPage {
  const matches = matcher(query.filter);
  const selected = stores
    .flatMap(({ recent }) => recent.flows)
    .filter((flow) => flow.timeMs >= query.startMs && flow.timeMs <= query.endMs && matches(flow))
    .toSorted((left, right) => (isBefore(left, right) ? 1 : -1));
  const { before } = query;
  const older = before === undefined ? selected : selected.filter((flow) => isBefore(flow, before));
  const rows = older.slice(0, query.limit);
  return {
    rows,
    matched: selected.length,
    retained: stores.reduce((sum, { recent }) => sum + recent.flows.length, 0),
    isFull: stores.some(({ recent }) => recent.isFull),
    next: older.length > rows.length ? rows.at(-1) : undefined,
  };
}

function matcher(filter: FlowFilter): (flow: StoredFlow) => boolean {
  const is = (wanted: string): ((text: string) => boolean) => {
    const folded = wanted.toLowerCase();
    return (text) => folded === "" || text.toLowerCase() === folded;
  };
  const has = (wanted: string): ((...texts: string[]) => boolean) => {
    const folded = wanted.toLowerCase();
    return (...texts) => folded === "" || texts.some((text) => text.toLowerCase().includes(folded));
  };
  const [type, path, verdict] = [is(filter.type), is(filter.path), is(filter.verdict)];
  const [device, addr] = [has(filter.device), has(filter.addr)];
  const [service, identity] = [has(filter.service), has(filter.identity)];
  return (flow) =>
    verdict(flow.verdict) &&
    type(flow.trafficType) &&
    path(flow.path) &&
    device(flow.srcNode, flow.dstNode) &&
    addr(flow.srcAddr, flow.dstAddr) &&
    service(flow.dstService) &&
    identity(flow.srcUser, flow.dstUser, flow.srcTags, flow.dstTags);
}
