import { setImmediate } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { mapInTurns, nextTurn, Turns } from "../../../src/kernel/async/turns.ts";

it("resumes one waiting piece of work in each pass of the event loop, in the order of their coming", async () => {
  const resumed: string[] = [];
  const work = ["a", "b", "c"].map(async (name) => {
    await nextTurn();
    resumed.push(name);
  });
  const seen: number[] = [];
  while (resumed.length < 3) {
    await setImmediate();
    seen.push(resumed.length);
  }
  await Promise.all(work);
  expect(resumed).toEqual(["a", "b", "c"]);
  expect(seen.every((count, at) => count - (seen[at - 1] ?? 0) <= 1)).toBe(true);
});

it("gives way when its stretch is over, and not before", async () => {
  let nowMs = 1_000;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const turns = new Turns();
  expect(turns.over).toBe(false);
  nowMs += 3;
  expect(turns.over).toBe(false);
  nowMs += 1;
  expect(turns.over).toBe(true);
  await turns.give();
  expect(turns.over).toBe(false);
});

it("maps in order", async () => {
  expect(await mapInTurns([1, 2, 3], new Turns(), (one) => one * 2)).toEqual([2, 4, 6]);
});
