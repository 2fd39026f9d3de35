/** A deadline shared by several waits that can be brought forward, e.g. by a second Ctrl-C. */
import type { Clock } from "../base/clock.ts";

/** The result of a wait whose deadline passed. */
export const late: unique symbol = Symbol("late");

export interface Deadline {
  remainingMs(): number;
  /** Brings the deadline forward to `ms` from now; never moves it back. */
  shorten(ms: number): void;
  /**
   * The promise's result, or `late` when the deadline or `capMs` passes first. A settled promise
   * wins.
   */
  wait<T>(promise: Promise<T>, capMs?: number): Promise<T | typeof late>;
}

/** A deadline `ms` from now. */
export function createDeadline(clock: Clock, ms: number): Deadline {
  let endsAtMs = clock.monotonic() + ms;
  const waits = new Set<() => void>();
  return {
    remainingMs: () => Math.max(0, endsAtMs - clock.monotonic()),
    shorten(newMs) {
      endsAtMs = Math.min(endsAtMs, clock.monotonic() + newMs);
      for (const arm of waits) arm();
    },
    wait(promise, capMs = Infinity) {
      const capAtMs = clock.monotonic() + capMs;
      const { promise: passed, resolve } = Promise.withResolvers<typeof late>();
      let timer: Disposable | undefined;
      const arm = (): void => {
        timer?.[Symbol.dispose]();
        timer = clock.timer(Math.min(capAtMs, endsAtMs), () => resolve(late));
      };
      waits.add(arm);
      arm();
      return Promise.race([promise, passed]).finally(() => {
        waits.delete(arm);
        timer?.[Symbol.dispose]();
      });
    },
  };
}
