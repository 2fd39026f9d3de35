/**
 * Waits that end before their promise: when a signal fires, or after a time. The promise is then
 * left behind; its rejection counts as handled.
 */
import type { Clock } from "../base/clock.ts";

/** The result of a wait whose time passed. */
export const late: unique symbol = Symbol("late");

export interface WaitOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** Ends the wait as the time does. */
  readonly signal?: AbortSignal | undefined;
}

/** The promise's outcome, or `late` when the time passes or the signal fires first. */
export function waitFor<T>(
  promise: Promise<T>,
  { clock, timeoutMs, signal }: WaitOptions,
): Promise<T | typeof late> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => resolve(late);
    const timer = clock.timer(clock.monotonic() + timeoutMs, giveUp);
    if (signal?.aborted === true) giveUp();
    else signal?.addEventListener("abort", giveUp, { once: true });
    promise.then(resolve, reject).finally(() => {
      timer[Symbol.dispose]();
      signal?.removeEventListener("abort", giveUp);
    });
  });
}

/** The promise's outcome, or a rejection with the signal's reason as soon as it fires. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Keeps the process running until disposed, which timers of the clock do not. */
export function keepAlive(): Disposable {
  const timer = setInterval(() => {}, 2 ** 30);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
