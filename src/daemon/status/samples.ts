/**
 * What is looked at every ten seconds for the curves of the status: the runtime, and what was
 * handed to exporters.
 */
import type { Clock } from "../../kernel/base/clock.ts";

/** Points of a curve. */
export const SAMPLES = 60;
/** Between two of them. */
export const SAMPLE_MS = 10_000;

/** The newest `SAMPLES` of something, oldest first. */
export interface Samples<T> extends Disposable {
  list(): readonly T[];
}

/**
 * Takes the first sample now and then one each `SAMPLE_MS`, until disposed. `take` gets the one
 * before.
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
