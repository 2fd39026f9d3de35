/**
 * Events of one category that come close together become one mark, so that a busy hour does not
 * cover a dashboard.
 */
import type { AnnotationCategory, AnnotationEvent } from "./types.ts";

/** A mark as it is written. */
export interface Mark {
  readonly category: AnnotationCategory;
  readonly timeMs: number;
  /** Later than `timeMs` when it stands for several events. */
  readonly endMs: number;
  readonly text: string;
  readonly tags: readonly string[];
  /** Identities of the events in it. */
  readonly identities: readonly string[];
}

/** Texts shown in a mark that stands for many. */
const MOST_TEXTS = 20;
const MOST_TAGS = 32;

/** One event by itself. */
export function markOf({ category, timeMs, text, tags, identity }: AnnotationEvent): Mark {
  return { category, timeMs, endMs: timeMs, text, tags, identities: [identity] };
}

/** Several events of one category, at least one. */
export function rollUp(events: readonly [AnnotationEvent, ...AnnotationEvent[]]): Mark {
  const [first] = events;
  if (events.length === 1) return markOf(first);
  const inOrder = events.toSorted((left, right) => left.timeMs - right.timeMs);
  const left = inOrder.length - MOST_TEXTS;
  return {
    category: first.category,
    timeMs: Math.min(...events.map(({ timeMs }) => timeMs)),
    endMs: Math.max(...events.map(({ timeMs }) => timeMs)),
    text: [
      `${events.length} events`,
      ...inOrder.slice(0, MOST_TEXTS).map(({ text }) => `- ${text}`),
      ...(left > 0 ? [`and ${left} more`] : []),
    ].join("\n"),
    tags: [...new Set(events.flatMap(({ tags }) => tags))].slice(0, MOST_TAGS),
    identities: events.map(({ identity }) => identity),
  };
}
