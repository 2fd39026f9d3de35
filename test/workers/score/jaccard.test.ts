import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { commonOf, jaccardAtLeast } from "../../../workers/score/jaccard.ts";

const number = fc.oneof(fc.nat(60), fc.constantFrom(0x7fff_ffff, 0x8000_0000, 0xffff_ffff));
const set = fc
  .uniqueArray(number, { maxLength: 60 })
  .map((numbers) => Uint32Array.from(numbers).sort());

function plainJaccard(a: Uint32Array, b: Uint32Array): number {
  const known = new Set(b);
  const common = a.filter((each) => known.has(each)).length;
  const union = a.length + b.length - common;
  return union === 0 ? 0 : common / union;
}

describe("exact Jaccard similarity", () => {
  it("is the intersection over the union", () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        expect(jaccardAtLeast(a, b, 0)).toBe(plainJaccard(a, b));
      }),
      { numRuns: 2_000 },
    );
  });

  it("is exact from the floor on and NaN below it", () => {
    fc.assert(
      fc.property(set, set, fc.double({ min: 0.01, max: 1, noNaN: true }), (a, b, floor) => {
        const exact = plainJaccard(a, b);
        for (const least of [floor, exact || floor])
          expect(jaccardAtLeast(a, b, least)).toBe(exact >= least ? exact : Number.NaN);
      }),
      { numRuns: 2_000 },
    );
  });

  it("of sets as large as a text can have is the plain one", () => {
    const a = Uint32Array.from({ length: 250_000 }, (_, i) => i * 3);
    for (const step of [3, 4, 6]) {
      const b = Uint32Array.from({ length: 200_000 }, (_, i) => i * step + 6);
      const exact = plainJaccard(a, b);
      expect(jaccardAtLeast(a, b, 0)).toBe(exact);
      expect(jaccardAtLeast(a, b, exact + 0.001)).toBeNaN();
    }
  });
});

describe("numbers that two ranges share", () => {
  it("are counted within larger columns", () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const column = Uint32Array.from([5, ...a, 6, ...b, 7]);
        expect(
          commonOf(column, 1, 1 + a.length, column, 2 + a.length, 2 + a.length + b.length),
        ).toBe(a.filter((each) => b.includes(each)).length);
      }),
      { numRuns: 500 },
    );
  });
});
