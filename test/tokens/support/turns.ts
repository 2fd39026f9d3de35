/** Counts turns of the event loop, so that tests see that long work gives some. */
import { onTestFinished, vi } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";

/** The turns that the loop has had since; until the test ends. */
export function countTurns(): () => number {
  let turns = 0;
  let next: NodeJS.Immediate;
  const count = (): void => {
    turns += 1;
    next = setImmediate(count);
  };
  next = setImmediate(count);
  onTestFinished(() => clearImmediate(next));
  return () => turns;
}

/** Every look at the machine's clock takes a millisecond, so that slices end after a few units. */
export function slowClock(): void {
  let atMs = systemClock.monotonic();
  const spy = vi.spyOn(systemClock, "monotonic").mockImplementation(() => (atMs += 1));
  onTestFinished(() => spy.mockRestore());
}
