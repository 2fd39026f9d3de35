import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  discriminativeOfHashes,
  discriminativeScore,
  hashTokens,
} from "../../../workers/score/discriminative.ts";
import { CATEGORIES, type TokenSets } from "../../../workers/score/token-sets.ts";

const none: TokenSets = {
  dates: [],
  times: [],
  amounts: [],
  identifiers: [],
  references: [],
  routes: [],
};
/** Few tokens, so that two sets often share some; also none at all. */
const tokens = fc
  .uniqueArray(fc.constantFrom("a", "b", "c", "2024-03-14", "148.20", "é", "\u{1F600}"), {
    maxLength: 5,
  })
  .map((each) => each.sort());
const sets: fc.Arbitrary<TokenSets> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(none) },
  {
    weight: 5,
    arbitrary: fc.record({
      dates: tokens,
      times: tokens,
      amounts: tokens,
      identifiers: tokens,
      references: tokens,
      routes: tokens,
    }),
  },
);

describe("discriminative score", () => {
  it("is 1 for two texts without tokens and a half when only one has some", () => {
    expect(discriminativeScore(none, none)).toBe(1);
    expect(discriminativeScore(none, { ...none, times: ["08:45"] })).toBe(0.5);
    expect(discriminativeScore({ ...none, times: ["08:45"] }, none)).toBe(0.5);
  });

  it("weighs the categories that either text has", () => {
    const a = { ...none, dates: ["x"], references: ["r", "s"] };
    expect(discriminativeScore(a, { ...none, dates: ["x"], references: ["r"] })).toBe(
      (3 + 0.5) / 4,
    );
    expect(discriminativeScore(a, { ...none, dates: ["y"], routes: ["p>q"] })).toBe(0);
  });

  it("does not depend on the order of the texts", () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        expect(discriminativeScore(a, b)).toBe(discriminativeScore(b, a));
      }),
    );
  });
});

describe("hashed tokens", () => {
  it("are sorted and distinct within each category", () => {
    const { words, counts } = hashTokens({ ...none, dates: ["a", "b", "c"], routes: ["a", "b"] });
    expect([...counts]).toEqual([3, 0, 0, 0, 0, 2]);
    expect(words.slice(0, 3)).toEqual(words.slice(0, 3).sort());
    // FNV-1a of one letter.
    expect(words.slice(3)).toEqual(Uint32Array.of(0xe40c292c, 0xe70c2de5));
  });

  it("give the very same score as the token sets, anywhere in a larger column", () => {
    fc.assert(
      fc.property(sets, sets, fc.nat(5), (a, b, gap) => {
        const [left, right] = [hashTokens(a), hashTokens(b)];
        const column = Uint32Array.from([
          ...Array.from({ length: gap }, () => 7),
          ...left.words,
          7,
          ...right.words,
          7,
        ]);
        const counts = Uint16Array.from([...left.counts, ...right.counts]);
        const expected = discriminativeScore(a, b);
        expect(
          discriminativeOfHashes(left.words, left.counts, 0, right.words, right.counts, 0),
        ).toBe(expected);
        expect(
          discriminativeOfHashes(
            column,
            counts,
            gap,
            column,
            counts,
            gap + left.words.length + 1,
            0,
            CATEGORIES.length,
          ),
        ).toBe(expected);
      }),
      { numRuns: 1000 },
    );
  });
});
