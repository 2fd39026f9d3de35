/**
 * The newest events of all networks, in memory and in order of arrival. At its limit the oldest is
 * evicted: a limit of events as configured, and one of bytes, which only long texts reach.
 */
import { cutAtCodePoint } from "../../kernel/base/text/bounded-name.ts";
import type { EventRecord, EventSink, EventStoreStatus, StoredEvent } from "./types.ts";

/** Longest error, summary and details, in bytes of UTF-8 before the mark. */
export const MAX_TEXT_BYTES = 4_096;
/** Ends a text that was cut. */
const MARK = "…[truncated]";
/** Texts of all events together, in UTF-16 code units: at most 64 MiB of memory. */
const MAX_TEXT_UNITS = 2 ** 25;
/** Memory of an event beside its texts, in the same unit. */
const OVERHEAD_UNITS = 128;

export interface EventStore extends EventSink {
  status(): EventStoreStatus;
  /** Whether the next event evicts one. */
  readonly isFull: boolean;
  /** The number of the newest event; 0 before the first. */
  readonly newest: number;
  /** The number of the oldest stored event; above `newest` when there is none. */
  readonly oldest: number;
  /** By its number; undefined when it was evicted or has not arrived yet. */
  at(seq: number): StoredEvent | undefined;
}

export interface EventStoreLimits {
  readonly maxEvents: number;
  /** Replaceable in tests. */
  readonly maxTextUnits?: number;
}

/** Takes no memory for events that have not arrived. */
export function createEventStore({
  maxEvents,
  maxTextUnits = MAX_TEXT_UNITS,
}: EventStoreLimits): EventStore {
  const events = new Map<number, StoredEvent>();
  let newest = 0;
  let oldest = 1;
  let units = 0;
  const isOverfull = (): boolean =>
    events.size > maxEvents || (units > maxTextUnits && events.size > 1);
  const evictOldest = (): void => {
    const event = events.get(oldest);
    events.delete(oldest);
    units -= event === undefined ? 0 : unitsOf(event);
    oldest += 1;
  };
  return {
    record(event) {
      const stored = bounded(event, newest + 1);
      newest = stored.seq;
      events.set(stored.seq, stored);
      units += unitsOf(stored);
      while (isOverfull()) evictOldest();
    },
    at: (seq) => events.get(seq),
    // What the limit of bytes evicted shows that it is reached, although fewer events are stored.
    get isFull() {
      return events.size >= maxEvents || oldest > 1;
    },
    get newest() {
      return newest;
    },
    get oldest() {
      return oldest;
    },
    status: () => ({
      capacity: maxEvents,
      retained: events.size,
      recorded: newest,
      evicted: oldest - 1,
    }),
  };
}

function bounded(event: EventRecord, seq: number): StoredEvent {
  const [error, summary, details] = [event.error, event.summary, event.details].map(cut) as [
    string,
    string,
    string,
  ];
  const truncated = error !== event.error || summary !== event.summary || details !== event.details;
  return { ...event, error, summary, details, seq, truncated };
}

function cut(text: string): string {
  const kept = cutAtCodePoint(text, MAX_TEXT_BYTES);
  return kept.length === text.length ? kept : `${kept}${MARK}`;
}

function unitsOf({ actor, target, ...event }: StoredEvent): number {
  const texts = [event.network, event.action, event.type, event.origin, event.error];
  const parties = [actor.id, actor.name, actor.type, target.id, target.name, target.type];
  return [...texts, ...parties, target.property, event.summary, event.details].reduce(
    (sum, text) => sum + text.length,
    OVERHEAD_UNITS,
  );
}
