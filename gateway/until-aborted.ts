/** Waits with abort or timeout for promises and streams that do not listen to a signal. */
import type { Clock } from "../src/kernel/base/clock.ts";
import { StewardError } from "../src/kernel/base/errors.ts";
import { withDeadline } from "../src/kernel/async/deadline.ts";
import { orAborted } from "../src/kernel/async/wait.ts";

/**
 * The result of `make`, or `deadline` after this many milliseconds; its signal fires then, and when
 * the other one does.
 */
export async function within<T>(
  ms: number,
  signal: AbortSignal,
  clock: Clock,
  make: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const reason = (): StewardError =>
    new StewardError(
      "deadline",
      `the request took longer than ${ms / 1000} s and was cancelled; request less, or retry later`,
      { remedy: "request less, or retry later" },
    );
  return await withDeadline({ clock, timeoutMs: ms, signal, reason }, make);
}

/**
 * The same items until the signal fires; then throws its reason. When the consumer or the signal
 * ends it early, the source's `return` is called at once, even while it waits for its next item or
 * its consumer.
 */
export async function* untilAborted<T>(
  source: AsyncIterable<T>,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  // A waiting generator runs its `return` only when it continues, so this is not awaited.
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
