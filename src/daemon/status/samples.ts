/** Fixed-size history for the graphs of the status, sampled every ten seconds. */
import type { Clock } from "../../kernel/base/clock.ts";

/** Samples stored. */
export const SAMPLES = 60;
export const SAMPLE_MS = 10_000;

/** The newest `SAMPLES` values, oldest first. */
export interface Samples<T> extends Disposable {
  list(): readonly T[];
}

/**
 * Takes the first sample now, then one every `SAMPLE_MS` until disposed. `take` gets the previous
 * sample.
 */
export function takeSamples<T>(clock: Clock, take: (before: T | undefined) => T): Samples<T> {
  let taken: readonly T[] = [];
  let timer: Disposable;
  const next = (): void => {
    taken = [...taken, take(taken.at(-1))].slice(-SAMPLES);
    timer = clock.timer(clock.monotonic() + SAMPLE_MS, next);
  };
  next();
  return { list: () => taken, [Symbol.dispose]: () => timer[Symbol.dispose]() };
}
