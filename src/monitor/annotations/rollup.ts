/** Merges events of one category that are close together into one annotation. */
import type { AnnotationCategory, AnnotationEvent } from "./types.ts";

/** An annotation to write. */
export interface Mark {
  readonly category: AnnotationCategory;
  readonly timeMs: number;
  /** Later than `timeMs` when it covers several events. */
  readonly endMs: number;
  readonly text: string;
  readonly tags: readonly string[];
  /** Identities of the merged events. */
  readonly identities: readonly string[];
}

/** Event texts shown in a merged annotation. */
const MAX_TEXTS = 20;
const MAX_TAGS = 32;

export function markOf({ category, timeMs, text, tags, identity }: AnnotationEvent): Mark {
  return { category, timeMs, endMs: timeMs, text, tags, identities: [identity] };
}

/** Merges at least one event of one category. */
export function rollUp(events: readonly [AnnotationEvent, ...AnnotationEvent[]]): Mark {
  const [first] = events;
  if (events.length === 1) return markOf(first);
  const inOrder = events.toSorted((left, right) => left.timeMs - right.timeMs);
  const left = inOrder.length - MAX_TEXTS;
  return {
    category: first.category,
    timeMs: Math.min(...events.map(({ timeMs }) => timeMs)),
    endMs: Math.max(...events.map(({ timeMs }) => timeMs)),
    text: [
      `${events.length} events`,
      ...inOrder.slice(0, MAX_TEXTS).map(({ text }) => `- ${text}`),
      ...(left > 0 ? [`and ${left} more`] : []),
    ].join("\n"),
    tags: [...new Set(events.flatMap(({ tags }) => tags))].slice(0, MAX_TAGS),
    identities: events.map(({ identity }) => identity),
  };
}
