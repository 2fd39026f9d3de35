import { afterEach, describe, expect, it, vi } from "vitest";
import { delay, systemClock } from "../../../src/kernel/base/clock.ts";

const DAY_MS = 86_400_000;

afterEach(() => void vi.useRealTimers());

describe("the clock of the system", () => {
  it("runs no timer before its time, whatever fractions of a millisecond that has", async () => {
    const keepsProcess = setInterval(() => undefined, 1_000);
    const early = await Promise.all(
      Array.from({ length: 200 }, async (_, index) => {
        const atMs = systemClock.monotonic() + 5 + index / 16;
        await new Promise<void>((resolve) => void systemClock.timer(atMs, resolve));
        return Math.max(0, atMs - systemClock.monotonic());
      }),
    );
    clearInterval(keepsProcess);
    expect(early.filter((ms) => ms > 0)).toEqual([]);
  });

  it("runs a timer in its time also beyond the longest one that Node has", async () => {
    vi.useFakeTimers();
    const run = vi.fn();
    systemClock.timer(systemClock.monotonic() + 60 * DAY_MS, run);
    await vi.advanceTimersByTimeAsync(60 * DAY_MS - 1);
    expect(run).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(run).toHaveBeenCalledOnce();
  });

  it("runs no timer that was disposed, also while it waits on", async () => {
    vi.useFakeTimers();
    const run = vi.fn();
    const timer = systemClock.timer(systemClock.monotonic() + 60 * DAY_MS, run);
    await vi.advanceTimersByTimeAsync(30 * DAY_MS);
    timer[Symbol.dispose]();
    await vi.advanceTimersByTimeAsync(60 * DAY_MS);
    expect(run).not.toHaveBeenCalled();
  });

  it("ends a delay with the reason of its signal", async () => {
    const leaving = new AbortController();
    const waiting = delay(systemClock, DAY_MS, leaving.signal);
    leaving.abort(new Error("gone"));
    await expect(waiting).rejects.toThrow("gone");
    await expect(delay(systemClock, DAY_MS, leaving.signal)).rejects.toThrow("gone");
  });
});
