/** The deadline of a stop, shared by its waits; can be brought forward, e.g. by a second Ctrl-C. */
import type { Clock } from "../base/clock.ts";
import { late } from "../async/wait.ts";

export interface StopDeadline {
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
export function createStopDeadline(clock: Clock, ms: number): StopDeadline {
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
      return new Promise((resolve, reject) => {
        let timer: Disposable | undefined;
        const arm = (): void => {
          timer?.[Symbol.dispose]();
          timer = clock.timer(Math.min(capAtMs, endsAtMs), () => resolve(late));
        };
        waits.add(arm);
        arm();
        promise.then(resolve, reject).finally(() => {
          waits.delete(arm);
          timer?.[Symbol.dispose]();
        });
      });
    },
  };
}
