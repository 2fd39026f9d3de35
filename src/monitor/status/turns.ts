/** Giving other work its turn in between: a document of tens of megabytes is made without holding the thread. */
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
    await setImmediate();
    this.#endsAtMs = performance.now() + STRETCH_MS;
  }
}

/** The results in order, with a break whenever it is time. */
export async function mapInTurns<T, U>(items: readonly T[], turns: Turns, map: (item: T) => U): Promise<U[]> {
  const mapped: U[] = [];
  for (const item of items) {
    if (turns.over) await turns.give();
    mapped.push(map(item));
  }
  return mapped;
}
