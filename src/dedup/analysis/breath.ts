/** Yields to the event loop every few thousand steps of long work. */
import { nextTurn } from "../../kernel/async/turns.ts";

/** Counts cheap steps. */
export interface Breath {
  /**
   * Undefined most of the time; every so often something to await, which rejects with the signal's
   * reason.
   */
  step(steps: number): Promise<void> | undefined;
}

/** Steps of some tens of nanoseconds that fit in a few milliseconds. */
const STEPS = 50_000;

/** A counter for one walk. */
export function createBreath(signal: AbortSignal): Breath {
  let since = 0;
  return {
    step(steps) {
      since += steps;
      if (since < STEPS) return undefined;
      since = 0;
      return nextTurn(signal);
    },
  };
}
