/**
 * Waiting that a signal or a time ends, for promises and streams whose makers may not listen to it.
 */
import type { Clock } from "../src/kernel/base/clock.ts";
import { StewardError } from "../src/kernel/base/errors.ts";

/**
 * What `make` promises, or `deadline` after that many milliseconds; its signal fires then, and when
 * the other one does.
 */
export async function within<T>(
  ms: number,
  signal: AbortSignal,
  clock: Clock,
  make: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  // By hand: a signal of AbortSignal.any is looked after by the collector, and there is one for
  // each request.
  const either = new AbortController();
  const stop = (): void => either.abort(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  const timer = clock.timer(clock.monotonic() + ms, () =>
    either.abort(
      new StewardError(
        "deadline",
        `the request took longer than ${ms / 1000} s and was cancelled; request less, or retry later`,
        { remedy: "request less, or retry later" },
      ),
    ),
  );
  try {
    return await orAborted(make(either.signal), either.signal);
  } finally {
    timer[Symbol.dispose]();
    signal.removeEventListener("abort", stop);
  }
}

/**
 * Settles as the promise does, or rejects with the signal's reason, whichever comes first. Leaves
 * no listener behind.
 */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/**
 * The same items until the signal fires; then throws its reason. Whoever stops early, consumer or
 * signal, ends the source: its `return` is called at once, also while it is waiting for its next
 * item or its consumer is.
 */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  // A generator that is waiting runs its `return` only when it goes on, so nobody waits for that.
  const end = (): void => void Promise.resolve(iterator.return?.()).catch(() => undefined);
  signal.addEventListener("abort", end, { once: true });
  try {
    for (;;) {
      const step = await orAborted(Promise.resolve(iterator.next()), signal);
      if (step.done === true) return;
      yield step.value;
      signal.throwIfAborted();
    }
  } finally {
    signal.removeEventListener("abort", end);
    end();
  }
}
