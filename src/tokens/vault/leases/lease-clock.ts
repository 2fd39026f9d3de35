/**
 * The clock of leases: wall time that never steps back. Expiry is wall time, so that it holds across restarts; but a wall clock that
 * is set back would let everything live longer. So this clock goes on with the monotonic one when the wall clock falls behind it,
 * and follows a step ahead at once: what was leased then ends early, never late. How far it is ahead of the wall clock is stored
 * beside the leases, and holds for the next process too.
 *
 * What remains: when the wall clock is set back while nothing runs, the time between the last mark and the start is not known and
 * may be given once more; a mark is made with the changes of leases, every minute, and within ten seconds after the wall clock was set.
 */
import type { Clock } from "../../../kernel/base/clock.ts";

/** Where the clock stood, by itself and by the wall. */
export interface ClockMark {
  readonly steadyMs: number;
  readonly wallMs: number;
}

/** A clock whose `now` never falls behind. */
export interface LeaseClock extends Clock {
  /** Takes over from an earlier process. */
  resume(mark: ClockMark): void;
  mark(): ClockMark;
  /** A time of this clock as the wall clock would show it. */
  toWall(steadyMs: number): number;
}

/** A clock over another. */
export function createLeaseClock(clock: Clock): LeaseClock {
  let steadyMs = clock.now();
  let seenMs = clock.monotonic();
  const now = (): number => {
    const monotonicMs = clock.monotonic();
    steadyMs = Math.max(clock.now(), steadyMs + monotonicMs - seenMs);
    seenMs = monotonicMs;
    return Math.floor(steadyMs);
  };
  return {
    now,
    monotonic: () => clock.monotonic(),
    timer: (atMonotonicMs, run) => clock.timer(atMonotonicMs, run),
    resume(mark) {
      const aheadMs = Math.max(0, mark.steadyMs - mark.wallMs);
      steadyMs = Math.max(now(), mark.steadyMs, clock.now() + aheadMs);
    },
    mark: () => ({ steadyMs: now(), wallMs: clock.now() }),
    toWall: (atMs) => atMs - (now() - Math.floor(clock.now())),
  };
}
