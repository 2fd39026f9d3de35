/** Yields to the event loop every few thousand steps of long work. */
import { nextTurn } from "../../kernel/async/turns.ts";
import type { Steps } from "../groups/steps.ts";

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

/** A look at the verdict on a pair, or a new one. */
export const VERDICT_STEPS = 10;
/** A selection of stars of a large cover. */
export const SELECT_STEPS = 10_000;

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

/** Runs a computation in steps, each of which takes about a millisecond. */
export async function breathe<T>(steps: Steps<T>, breath: Breath): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await breath.step(STEPS / 4);
  }
}
