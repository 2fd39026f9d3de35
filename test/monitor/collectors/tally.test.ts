import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Tally } from "../../../src/monitor/collectors/tally.ts";

function tallyOf(
  names: readonly (string | undefined)[],
): Tally<{ readonly name: string | undefined }> {
  const tally = new Tally<{ readonly name: string | undefined }>();
  for (const name of names) tally.add({ name });
  return tally;
}

describe("A tally", () => {
  it("counts each combination by itself, in the order of their coming, an absent value unlike an empty one", () => {
    expect(tallyOf(["b", undefined, "", "b"]).entries()).toEqual([
      { values: { name: "b" }, count: 2 },
      { values: { name: undefined }, count: 1 },
      { values: { name: "" }, count: 1 },
    ]);
  });

  it("keeps the most frequent, and loses none of the others' count", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "b", "c", "d", "e")),
        fc.integer({ min: -1, max: 6 }),
        (names, limit) => {
          const { kept, others } = tallyOf(names).top(limit);
          expect(kept.reduce((sum, { count }) => sum + count, others)).toBe(names.length);
          expect(kept.length).toBeLessThanOrEqual(limit <= 0 ? 5 : limit);
          expect(kept.map(({ count }) => count)).toEqual(
            kept.map(({ count }) => count).toSorted((left, right) => right - left),
          );
          if (limit <= 0) expect(others).toBe(0);
        },
      ),
    );
  });

  it("prefers the first in the alphabet of two that are equally frequent", () => {
    expect(tallyOf(["b", "a", "c", "c"]).top(2)).toEqual({
      kept: [
        { values: { name: "c" }, count: 2 },
        { values: { name: "a" }, count: 1 },
      ],
      others: 1,
    });
  });
});
