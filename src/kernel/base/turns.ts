/**
 * Long work on a thread that serves requests, in stretches of a few milliseconds. All such work of
 * a thread stands in one queue, and each pass of the event loop resumes one stretch: however many
 * requests work at once, input and timers wait for one stretch only.
 */
import { setImmediate } from "node:timers/promises";

/** Work goes on for so long at most before others have their turn. */
const STRETCH_MS = 4;

/** One stretch of work after the other. */
export class Turns {
  #endsAtMs = performance.now() + STRETCH_MS;

  /** Whether it is time to give way; asked between two small pieces of work. */
  get over(): boolean {
    return performance.now() >= this.#endsAtMs;
  }

  /** Lets others work, then begins a new stretch. */
  async give(): Promise<void> {
    await nextTurn();
    this.#endsAtMs = performance.now() + STRETCH_MS;
  }
}

/** Resumes who waited longest; the others wait for the passes after it. */
const waiting: (() => void)[] = [];

/** Resolves in a later pass of the event loop, after all who waited before. */
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

/** The results in order, with a break whenever it is time. */
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
