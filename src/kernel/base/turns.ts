/**
 * Time slicing of long work on a thread that serves requests. All such work of a thread shares one
 * queue, and each iteration of the event loop resumes one slice: however many requests work at
 * once, I/O and timers wait for one slice only.
 */
import { setImmediate } from "node:timers/promises";

/** Maximum length of a slice. */
const STRETCH_MS = 4;

/** One slice of work after the other. */
export class Turns {
  #endsAtMs = performance.now() + STRETCH_MS;

  /** Whether to yield; check between small units of work. */
  get over(): boolean {
    return performance.now() >= this.#endsAtMs;
  }

  /** Yields, then begins a new slice. */
  async give(): Promise<void> {
    await nextTurn();
    this.#endsAtMs = performance.now() + STRETCH_MS;
  }
}

/** Resumes the longest waiting; the others wait for later iterations. */
const waiting: (() => void)[] = [];

/** Resolves in a later iteration of the event loop, after all earlier callers. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) void setImmediate().then(resume);
  });
}

function resume(): void {
  const next = waiting.shift();
  if (waiting.length > 0) void setImmediate().then(resume);
  next?.();
}

/** The results in order, yielding as necessary. */
export async function mapInTurns<T, U>(
  items: readonly T[],
  turns: Turns,
  map: (item: T) => U,
): Promise<U[]> {
  const mapped: U[] = [];
  for (const item of items) {
    if (turns.over) await turns.give();
    mapped.push(map(item));
  }
  return mapped;
}
