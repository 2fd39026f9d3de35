import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRunningTotals } from "../../../src/monitor/collectors/running-totals.ts";

const roomy = { capacity: 100, keepRounds: 2 };

describe("Running totals", () => {
  it("take the first sight as the beginning, growth as growth and a fall as a new start", () => {
    const totals = createRunningTotals(roomy);
    expect([100, 130, 130, 7, 9].map((total) => totals.growth("a", total))).toEqual([
      0, 30, 0, 7, 2,
    ]);
  });

  it("follow each key by itself, and none beyond the capacity", () => {
    const totals = createRunningTotals({ capacity: 1, keepRounds: 2 });
    totals.growth("a", 1);
    totals.growth("b", 1);
    expect(totals.growth("a", 5)).toBe(4);
    expect(totals.growth("b", 5)).toBe(0);
    expect(totals.size).toBe(1);
  });

  it("forget what was not looked at for some rounds", () => {
    const totals = createRunningTotals(roomy);
    totals.growth("a", 1);
    for (let round = 0; round < 3; round++) {
      totals.growth("b", round);
      totals.endRound();
    }
    expect(totals.size).toBe(1);
    expect(totals.growth("a", 50)).toBe(0);
  });

  it("take no number for no growth", () => {
    const totals = createRunningTotals(roomy);
    totals.growth("a", 1);
    expect(totals.growth("a", Number.NaN)).toBe(0);
    expect(totals.growth("a", Number.POSITIVE_INFINITY)).toBe(0);
    expect(totals.growth("a", 3)).toBe(2);
  });

  it("add up to what an upstream counted after the first look, restarts included", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.nat(1_000), fc.constant("restart" as const)), { maxLength: 50 }),
        (steps) => {
          const totals = createRunningTotals(roomy);
          let total = 0;
          let counted = 0;
          let grown = totals.growth("a", total);
          for (const step of steps) {
            if (step === "restart") {
              total = 0;
              grown += totals.growth("a", 0);
              continue;
            }
            total += step;
            counted += step;
            grown += totals.growth("a", total);
          }
          expect(grown).toBe(counted);
        },
      ),
    );
  });
});
