/**
 * The clock, passed in so that tests control it: wall time decides expiry, monotonic time decides
 * waiting.
 */

export interface Clock {
  /** Milliseconds since 1970. May step. */
  now(): number;
  /** Milliseconds since an arbitrary start. Never steps back. */
  monotonic(): number;
  /**
   * Runs once at or after a monotonic time, unless disposed before. Does not keep the process
   * alive.
   */
  timer(atMonotonicMs: number, run: () => void): Disposable;
}

const MAX_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  timer(atMonotonicMs, run) {
    const arm = (): NodeJS.Timeout => {
      const waitMs = Math.ceil(atMonotonicMs - performance.now());
      return setTimeout(look, Math.min(MAX_TIMER_MS, Math.max(0, waitMs))).unref();
    };
    // Node counts whole milliseconds from when the turn began, and so runs some timers early.
    const look = (): void => {
      if (performance.now() < atMonotonicMs) handle = arm();
      else run();
    };
    let handle = arm();
    return { [Symbol.dispose]: () => clearTimeout(handle) };
  },
};

/**
 * Resolves after `ms` by the given clock; rejects with the signal's reason when that fires first.
 */
export function delay(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const stop = (): void => {
      timer[Symbol.dispose]();
      reject(signal?.reason as Error);
    };
    const timer = clock.timer(clock.monotonic() + ms, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
}
