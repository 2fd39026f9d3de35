import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import type { Steps } from "../../../src/dedup/groups/steps.ts";
import { runInSlices } from "../../../src/dedup/groups/steps.ts";

function* endless(): Steps<number> {
  for (;;) yield;
}

function* counted(steps: number): Steps<number> {
  for (let step = 0; step < steps; step += 1) yield;
  return steps;
}

describe("steps", () => {
  it("let other work run and stop with the signal's reason", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => stop.abort(reason), 20);
    await expect(
      runInSlices(endless(), { clock: systemClock, signal: stop.signal, sliceMs: 2 }),
    ).rejects.toBe(reason);
  });

  it("hand on the result of a run in slices", async () => {
    const sum = await runInSlices(counted(3), {
      clock: systemClock,
      signal: new AbortController().signal,
    });
    expect(sum).toBe(3);
  });
});
