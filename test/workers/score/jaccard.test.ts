import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jaccardOf } from "../../../workers/score/jaccard.ts";

const set = fc
  .uniqueArray(fc.oneof(fc.nat(20), fc.constantFrom(0x7fff_ffff, 0x8000_0000, 0xffff_ffff)), {
    maxLength: 20,
  })
  .map((numbers) => Uint32Array.from(numbers).sort());

describe("exact Jaccard similarity", () => {
  it("is the intersection over the union, within ranges of larger columns", () => {
    fc.assert(
      fc.property(set, set, (a, b) => {
        const union = new Set([...a, ...b]).size;
        const common = [...a].filter((number) => b.includes(number)).length;
        const expected = union === 0 ? 0 : common / union;
        const column = Uint32Array.from([5, ...a, 6, ...b, 7]);
        expect(jaccardOf(a, 0, a.length, b, 0, b.length)).toBe(expected);
        expect(
          jaccardOf(column, 1, 1 + a.length, column, 2 + a.length, 2 + a.length + b.length),
        ).toBe(expected);
      }),
      { numRuns: 1000 },
    );
  });
});
