import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import type { Steps } from "../../../src/dedup/groups/steps.ts";
import { runInSlices, sortSteps } from "../../../src/dedup/groups/steps.ts";
import { runAtOnce } from "./run-at-once.ts";

function* endless(): Steps<number> {
  for (;;) yield;
}

describe("steps", () => {
  it("sort like a stable sort, whatever the length", () => {
    for (const length of [0, 1, 2, 1023, 1024, 1025, 5000]) {
      const items = Array.from({ length }, (_, index) => ({ key: (index * 7919) % 97, index }));
      const sorted = runAtOnce(sortSteps(items, (a, b) => a.key - b.key));
      expect(sorted).toEqual(items.toSorted((a, b) => a.key - b.key));
    }
  });

  it("let other work run and stop with the signal's reason", async () => {
    const stop = new AbortController();
    const reason = new Error("enough");
    setTimeout(() => stop.abort(reason), 20);
    await expect(
      runInSlices(endless(), { clock: systemClock, signal: stop.signal, sliceMs: 2 }),
    ).rejects.toBe(reason);
  });

  it("hand on the result of a run in slices", async () => {
    const sorted = await runInSlices(
      sortSteps([3, 1, 2], (a, b) => a - b),
      { clock: systemClock, signal: new AbortController().signal },
    );
    expect(sorted).toEqual([1, 2, 3]);
  });
});
