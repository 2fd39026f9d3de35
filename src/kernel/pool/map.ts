/**
 * Ordered concurrent map with a bounded window: reads the next input only when it can be queued.
 */

export interface MapSteps<I, O> {
  /** Resolves when another input may be started. */
  waitForCapacity(signal: AbortSignal): Promise<void>;
  start(input: I, signal: AbortSignal): Promise<O>;
}

/**
 * Results in input order with at most `inFlight` inputs running. Leaving the iteration, an error of
 * the source or an error of one run cancels the running ones.
 */
export async function* mapOrdered<I, O>(
  inputs: Iterable<I> | AsyncIterable<I>,
  inFlight: number,
  outer: AbortSignal,
  steps: MapSteps<I, O>,
): AsyncGenerator<O, void, undefined> {
  const stop = new AbortController();
  const signal = AbortSignal.any([outer, stop.signal]);
  const source =
    Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();
  const window: Promise<O>[] = [];
  let ended = false;
  try {
    for (;;) {
      while (!ended && window.length < inFlight) {
        await steps.waitForCapacity(signal);
        const next = await source.next();
        if (next.done === true) ended = true;
        else {
          const started = steps.start(next.value, signal);
          started.catch(() => undefined);
          window.push(started);
        }
      }
      const first = window.shift();
      if (first === undefined) return;
      yield await first;
    }
  } finally {
    stop.abort(new Error("the caller of map has left"));
    if (!ended) await source.return?.();
  }
}
