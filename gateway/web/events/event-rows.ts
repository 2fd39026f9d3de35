/** The events that a page shows: the newest answer, together with the older ones it loaded before. */
import type { Event as EventRow, EventList } from "../../../src/gen/events-json.ts";

export interface EventsFacts {
  /** The newest answer; undefined when none could be read. */
  readonly list: EventList | undefined;
  /** Newest arrival first, each once. */
  readonly rows: readonly EventRow[];
  /** Continues below the last row; undefined when nothing older matches. */
  readonly olderCursor: string | undefined;
  /** Why nothing could be read. */
  readonly problem?: string | undefined;
  /** The answer may be outdated. */
  readonly stale?: boolean;
}

/** A page shows no more rows than this. */
export const MAX_ROWS = 2_000;

/** What an answer shows by itself. */
export function factsOf(list: EventList): EventsFacts {
  return { list, rows: list.rows, olderCursor: list.next_cursor };
}

/**
 * A newer answer to the same question. Older rows stay while both answers overlap, so that none is
 * missing between them; rows that the store has evicted, or that are of an earlier start, go.
 */
export function withNewer(
  { list: before, rows, olderCursor }: EventsFacts,
  list: EventList,
): EventsFacts {
  const fresh = factsOf(list);
  if (before === undefined || list.stats.recorded < before.stats.recorded) return fresh;
  const last = list.rows.at(-1);
  const overlaps =
    list.next_cursor === undefined || rows.some(({ seq }) => last !== undefined && seq >= last.seq);
  if (!overlaps || list.next_cursor === undefined) return fresh;
  const known = new Set(list.rows.map(({ seq }) => seq));
  const kept = rows.filter(({ seq }) => !known.has(seq) && seq > list.stats.evicted);
  // Without rows of its own below the newest page, that page says how to go on.
  if (kept.length === 0) return fresh;
  return { list, rows: [...list.rows, ...kept].slice(0, MAX_ROWS), olderCursor };
}

/** The page after the last row. */
export function withOlder(facts: EventsFacts, older: EventList): EventsFacts {
  const known = new Set(facts.rows.map(({ seq }) => seq));
  const added = older.rows.filter(({ seq }) => !known.has(seq));
  return {
    ...facts,
    rows: [...facts.rows, ...added].slice(0, MAX_ROWS),
    olderCursor: older.next_cursor,
  };
}
