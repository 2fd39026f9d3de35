/** Selects a page of single connections over all networks: of `GET /api/flows.json`, or an export. */
import type { FlowQuery, FlowSelection, FlowStore } from "./flow-store.ts";
import { isBefore } from "./recent-flows.ts";
import type { FlowPosition, StoredFlow } from "./types.ts";

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

/** Rejects with the signal's reason. */
export async function selectRecent(
  stores: readonly Pick<FlowStore, "select">[],
  query: FlowQuery,
  signal: AbortSignal,
): Promise<RecentPage> {
  const found: FlowSelection[] = [];
  for (const store of stores) found.push(await store.select(query, signal));
  const newest = found
    .flatMap(({ rows }) => rows)
    .toSorted((left, right) => (isBefore(left, right) ? 1 : -1));
  const rows = newest.slice(0, query.limit);
  return {
    rows,
    matched: found.reduce((sum, { matched }) => sum + matched, 0),
    retained: found.reduce((sum, { retained }) => sum + retained, 0),
    isFull: found.some(({ isFull }) => isFull),
    next: newest.length > rows.length ? rows.at(-1) : undefined,
  };
}
