/**
 * Long pure computations as generators that yield after about a thousand cheap steps; the caller
 * decides whether to stop, to run other work, or to continue.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import { nextTurn, type Turns } from "../../kernel/async/turns.ts";

/** A computation in steps; each step takes well under a millisecond. */
export type Steps<T> = Generator<void, T>;

/** How to share the thread. */
export interface SliceOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Work without a pause; 5 ms when not given. */
  readonly sliceMs?: number;
}

/**
 * Runs in slices with other work between them. Rejects with the signal's reason when that fires.
 */
export async function runInSlices<T>(steps: Steps<T>, options: SliceOptions): Promise<T> {
  const pause = createPause(options);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    await pause();
  }
}

/** Runs within the turns of a longer computation. Rejects with the signal's reason. */
export async function runInTurns<T>(
  steps: Steps<T>,
  turns: Turns,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (turns.over) await turns.give(signal);
  }
}

/**
 * Call between small pieces of work: waits for other work once a slice is used up, and throws once
 * the signal fired.
 */
export function createPause(options: SliceOptions): () => Promise<void> {
  const sliceMs = options.sliceMs ?? 5;
  let endMs = options.clock.monotonic() + sliceMs;
  return async () => {
    options.signal.throwIfAborted();
    if (options.clock.monotonic() < endMs) return;
    await nextTurn(options.signal);
    endMs = options.clock.monotonic() + sliceMs;
  };
}
