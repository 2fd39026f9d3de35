/** A clock that moves only when a test says so. */
import { setImmediate } from "node:timers/promises";
import type { Clock } from "../../../src/kernel/base/clock.ts";

export interface ManualClock extends Clock {
  /**
   * Moves on and runs the timers that fall due, in order; what they set off has come to rest
   * afterwards.
   */
  advance(ms: number): Promise<void>;
  /** Timers that wait. */
  timers(): number;
}

export function createManualClock(): ManualClock {
  let nowMs = 1_000;
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  const due = (untilMs: number) =>
    [...timers].filter((timer) => timer.atMs <= untilMs).toSorted((a, b) => a.atMs - b.atMs)[0];
  return {
    now: () => 1_700_000_000_000 + nowMs,
    monotonic: () => nowMs,
    timer(atMs, run) {
      const timer = { atMs, run };
      timers.add(timer);
      return { [Symbol.dispose]: () => void timers.delete(timer) };
    },
    async advance(ms) {
      const untilMs = nowMs + ms;
      await setImmediate();
      for (let timer = due(untilMs); timer !== undefined; timer = due(untilMs)) {
        timers.delete(timer);
        nowMs = Math.max(nowMs, timer.atMs);
        timer.run();
        await setImmediate();
      }
      nowMs = untilMs;
      await setImmediate();
    },
    timers: () => timers.size,
  };
}
