import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";

/** Keeps the process alive, which timers of the clock do not. */
async function ranAfterMs(waitMs: number): Promise<number> {
  const alive = setInterval(() => undefined, 1_000);
  const sinceMs = systemClock.monotonic();
  await new Promise<void>((resolve) => void systemClock.timer(sinceMs + waitMs, resolve));
  clearInterval(alive);
  return systemClock.monotonic() - sinceMs;
}

describe("a timer of the system's clock", () => {
  it("never runs before its time", async () => {
    const early: number[] = [];
    for (let waitMs = 1.9; waitMs < 6; waitMs += 0.1) {
      const afterMs = await ranAfterMs(waitMs);
      if (afterMs < waitMs) early.push(waitMs - afterMs);
    }
    expect(early).toEqual([]);
  });

  it("runs at once when its time has passed", async () => {
    expect(await ranAfterMs(-1)).toBeGreaterThanOrEqual(0);
  });

  it("does not run once it was disposed", async () => {
    let ran = 0;
    const timers = Array.from({ length: 20 }, (_, at) =>
      systemClock.timer(systemClock.monotonic() + 2 + at / 10, () => (ran += 1)),
    );
    for (const timer of timers) timer[Symbol.dispose]();
    await ranAfterMs(10);
    expect(ran).toBe(0);
  });
});
