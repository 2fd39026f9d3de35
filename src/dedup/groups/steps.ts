/**
 * Long pure computations as generators that yield after about a thousand cheap steps; the caller
 * decides whether to stop, to run other work, or to continue.
 */
import type { Clock } from "../../kernel/base/clock.ts";
import { nextTurn } from "../../kernel/async/turns.ts";

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

const RUN = 1024;

/** The items in order, by a merge sort that yields. Stable; leaves its input alone. */
export function* sortSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let from = items.slice();
  for (let start = 0; start < from.length; start += RUN) {
    const run = from.slice(start, start + RUN).sort(compare);
    for (let i = 0; i < run.length; i++) from[start + i] = run[i] as T;
    yield;
  }
  let to = from.slice();
  for (let width = RUN; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width)
      yield* mergeRuns(from, to, start, width, compare);
    [from, to] = [to, from];
  }
  return from;
}

function* mergeRuns<T>(
  from: readonly T[],
  to: T[],
  start: number,
  width: number,
  compare: (a: T, b: T) => number,
): Steps<void> {
  const middle = Math.min(start + width, from.length);
  const end = Math.min(middle + width, from.length);
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    const takeLeft =
      left < middle && (right >= end || compare(from[left] as T, from[right] as T) <= 0);
    to[at] = from[takeLeft ? left++ : right++] as T;
    if (at % 4096 === 4095) yield;
  }
}
