/** A clock for waits of seconds: they are over at once, and their time has passed. */
import { systemClock, type Clock } from "../../../src/kernel/base/clock.ts";

/** Longer ones are timeouts, which go by the machine. */
const MAX_SKIPPED_MS = 6_000;

export interface SkippingClock extends Clock {
  /** Length of each wait that was skipped, in whole milliseconds. */
  readonly waitsMs: readonly number[];
  /** Moves both times on. */
  skip(ms: number): void;
  /** Sets the wall clock only; negative: back. */
  setWall(byMs: number): void;
}

/** `onWait` is called when a wait begins that will be skipped. */
export function createSkippingClock(onWait: () => void = () => undefined): SkippingClock {
  const waitsMs: number[] = [];
  let aheadMs = 0;
  let wallAheadMs = 0;
  const monotonic = (): number => systemClock.monotonic() + aheadMs;
  return {
    waitsMs,
    now: () => systemClock.now() + Math.ceil(aheadMs) + wallAheadMs,
    monotonic,
    timer(atMs, run) {
      const waitMs = atMs - monotonic();
      if (waitMs > MAX_SKIPPED_MS) return systemClock.timer(atMs - aheadMs, run);
      waitsMs.push(Math.round(waitMs));
      onWait();
      const soon = setImmediate(() => {
        aheadMs += Math.max(0, atMs - monotonic());
        run();
      });
      return { [Symbol.dispose]: () => clearImmediate(soon) };
    },
    skip: (ms) => void (aheadMs += ms),
    setWall: (byMs) => void (wallAheadMs += byMs),
  };
}
