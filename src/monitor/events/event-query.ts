/** Selects stored events: filters, window, limit and cursor of `GET /api/events.json`. */
import { Turns } from "../../kernel/async/turns.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import type { EventStore } from "./event-store.ts";
import type { StoredEvent } from "./types.ts";

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 1_000;
/** Events between two looks at the clock. */
const AT_ONCE = 256;

/** Empty texts do not filter. */
export interface EventFilter {
  readonly source: string;
  readonly severity: string;
  readonly type: string;
  readonly actor: string;
  readonly target: string;
  readonly action: string;
  readonly errors: boolean;
}

export interface EventQuery extends EventFilter {
  /** Milliseconds since 1970, both inclusive. */
  readonly startMs: number;
  readonly endMs: number;
  readonly limit: number | undefined;
  readonly cursor: string;
}

export interface EventPage {
  /** The last received first. */
  readonly rows: readonly StoredEvent[];
  /** Events that the filters and the window select, on all pages. */
  readonly matched: number;
  readonly nextCursor: string | undefined;
  /** Times of all stored events; undefined when there is none. */
  readonly times: { readonly earliestMs: number; readonly latestMs: number } | undefined;
}

/**
 * Looks at every stored event, in slices. Events that arrive meanwhile are left out; those evicted
 * meanwhile may be. Rejects with the signal's reason.
 */
export async function selectEvents(
  store: EventStore,
  query: EventQuery,
  signal: AbortSignal,
): Promise<EventPage> {
  const turns = new Turns();
  const matches = matcher(query);
  const limit = Math.max(0, Math.min(query.limit ?? DEFAULT_LIMIT, MAX_LIMIT));
  const before = readCursor(query.cursor) ?? Infinity;
  const rows: StoredEvent[] = [];
  let [matched, isMore] = [0, false];
  let [earliestMs, latestMs] = [Infinity, -Infinity];
  for (let seq = store.newest; seq >= store.oldest; seq -= 1) {
    if (seq % AT_ONCE === 0 && turns.over) await turns.give(signal);
    const event = store.at(seq);
    if (event === undefined) continue;
    earliestMs = Math.min(earliestMs, event.timeMs);
    latestMs = Math.max(latestMs, event.timeMs);
    if (!matches(event)) continue;
    matched += 1;
    if (seq >= before) continue;
    if (rows.length < limit) rows.push(event);
    else isMore = true;
  }
  const last = rows.at(-1);
  return {
    rows,
    matched,
    nextCursor: isMore && last !== undefined ? writeCursor(last.seq) : undefined,
    times: earliestMs === Infinity ? undefined : { earliestMs, latestMs },
  };
}

function matcher(query: EventQuery): (event: StoredEvent) => boolean {
  const is = (wanted: string): ((text: string) => boolean) => {
    const folded = wanted.toLowerCase();
    return (text) => folded === "" || text.toLowerCase() === folded;
  };
  const has = (wanted: string): ((...texts: string[]) => boolean) => {
    const folded = wanted.toLowerCase();
    return (...texts) => folded === "" || texts.some((text) => text.toLowerCase().includes(folded));
  };
  const [source, severity, type] = [is(query.source), is(query.severity), is(query.type)];
  const [actor, target, action] = [has(query.actor), has(query.target), has(query.action)];
  return (event) =>
    event.timeMs >= query.startMs &&
    event.timeMs <= query.endMs &&
    (!query.errors || event.error !== "") &&
    source(event.source) &&
    severity(event.severity) &&
    type(event.type) &&
    action(event.action) &&
    actor(event.actor.name, event.actor.id) &&
    target(event.target.name, event.target.id);
}
