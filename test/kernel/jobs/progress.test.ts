import { array, assert, constantFrom, integer, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { createProgress } from "../../../src/kernel/jobs/progress.ts";

describe("progress", () => {
  it("stays between 0 and 1 and never goes back, whatever is stepped", () => {
    const step = record({
      phase: constantFrom("a", "b", "c"),
      total: integer({ min: 0, max: 50 }),
      done: integer({ min: -5, max: 90 }),
    });
    assert(
      property(array(step), (steps) => {
        let last = 0;
        const progress = createProgress(
          { a: 0.1, b: 0.6, c: 0.3 },
          { progress: 0, phaseProgress: undefined, message: "" },
          () => {
            expect(progress.state.progress).toBeGreaterThanOrEqual(last);
            expect(progress.state.progress).toBeLessThanOrEqual(1);
            last = progress.state.progress;
          },
        );
        for (const { phase, total, done } of steps) progress.phase(phase, total).step(done);
      }),
    );
  });

  it("refuses a phase that was not declared", () => {
    const progress = createProgress(
      { a: 1 },
      { progress: 0, phaseProgress: undefined, message: "" },
      () => {},
    );
    expect(() => progress.phase("b")).toThrow("the job has a phase b");
  });
});
