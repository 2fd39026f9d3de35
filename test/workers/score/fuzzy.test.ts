import * as fc from "fast-check";
import { distance as fastest } from "fastest-levenshtein";
import { describe, expect, it } from "vitest";
import { editDistance as distanceOfUnits } from "../../../workers/score/edit-distance.ts";
import { fuzzyRatio as ratioOfSamples, wordSorted } from "../../../workers/score/fuzzy.ts";
import type { SortedSample } from "../../../workers/score/fuzzy.ts";

const unitsOf = (text: string): Uint16Array =>
  Uint16Array.from({ length: text.length }, (_, i) => text.charCodeAt(i));
const editDistance = (a: string, b: string, limit?: number): number =>
  distanceOfUnits(unitsOf(a), unitsOf(b), limit === undefined ? {} : { limit });

/** A text as if it were word-sorted: what is computed of it does not depend on that. */
function unsorted(text: string): SortedSample {
  const units = unitsOf(text);
  const histogram = new Uint32Array(128);
  for (const unit of units) histogram[unit & 127] = (histogram[unit & 127] ?? 0) + 1;
  return { units, histogram };
}
const fuzzyRatio = (a: string, b: string, atLeast?: number): number =>
  ratioOfSamples(unsorted(a), unsorted(b), atLeast);

/** The words of a sample in order, in plain TypeScript. */
const plainSorted = (sample: string): string =>
  sample
    .split(" ")
    .filter((word) => word !== "")
    .sort()
    .join(" ");

function plainDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const differs = a.charCodeAt(row - 1) === b.charCodeAt(column - 1) ? 0 : 1;
      current.push(
        Math.min(
          (previous[column - 1] ?? 0) + differs,
          (previous[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
        ),
      );
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}

/** Few letters, so that chance matches abound; whole and broken surrogate pairs among them. */
const letter = fc.constantFrom(
  "a",
  "b",
  "c",
  " ",
  "é",
  "\u{1F600}",
  "\u{1F601}",
  "\uD83D",
  "\uDE00",
);
const text = fc.array(letter, { maxLength: 150 }).map((letters) => letters.join(""));
/** A text and an edited copy of it, to stay inside narrow bands. */
const edited = fc
  .tuple(
    fc.array(letter, { minLength: 1, maxLength: 400 }),
    fc.array(fc.tuple(fc.nat(400), fc.nat(3), letter), { maxLength: 12 }),
  )
  .map(([letters, edits]): [string, string] => {
    const copy = [...letters];
    for (const [at, removed, inserted] of edits)
      copy.splice(at % letters.length, removed, inserted);
    return [letters.join(""), copy.join("")];
  });
/**
 * A text and the same with its head moved to its end: the way between them runs along the very edge
 * of the band.
 */
const moved = fc
  .tuple(
    fc.uniqueArray(fc.nat(0xffff), { minLength: 40, maxLength: 300 }),
    fc.integer({ min: 1, max: 30 }),
  )
  .map(([units, head]): [string, string] => {
    const whole = String.fromCharCode(...units);
    return [whole, whole.slice(head) + whole.slice(0, head)];
  });
const pair = fc.oneof(fc.tuple(text, text), edited, moved);

function seededText(length: number, seed: number, alphabet: string): string {
  let state = seed;
  let result = "";
  for (let index = 0; index < length; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    result += alphabet[(state >>> 16) % alphabet.length] ?? "";
  }
  return result;
}

describe("edit distance", () => {
  it("equals the plain computation and a second implementation", () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const expected = plainDistance(a, b);
        expect(editDistance(a, b)).toBe(expected);
        expect(fastest(a, b)).toBe(expected);
      }),
      { numRuns: 1500 },
    );
  });

  it("is exact up to its limit and -1 above it", () => {
    fc.assert(
      fc.property(pair, fc.nat(200), ([a, b], limit) => {
        const expected = plainDistance(a, b);
        expect(editDistance(a, b, limit)).toBe(expected <= limit ? expected : -1);
      }),
      { numRuns: 1500 },
    );
  });

  it("stays exact when the band has to grow several times", () => {
    for (const [length, alphabet] of [
      [900, "ab"],
      [2500, "abcdefghij "],
      [4000, "abcdefghijklmnopqrstuvwxyz "],
    ] as const) {
      const a = seededText(length, 1, alphabet);
      const b = seededText(length - 300, 2, alphabet);
      const expected = fastest(a, b);
      expect(editDistance(a, b)).toBe(expected);
      expect(editDistance(b, a, expected)).toBe(expected);
      expect(editDistance(a, b, expected - 1)).toBe(-1);
    }
  });
});

describe("fuzzy ratio", () => {
  it("is 1 for two empty texts and 0 when one is empty", () => {
    expect(fuzzyRatio("", "")).toBe(1);
    expect(fuzzyRatio("", "a")).toBe(0);
    expect(fuzzyRatio("a", "", 0.5)).toBe(0);
  });

  it("is one less the distance over the longer length, to the last digit", () => {
    fc.assert(
      fc.property(pair, ([a, b]) => {
        const longest = Math.max(a.length, b.length);
        expect(fuzzyRatio(a, b)).toBe(longest === 0 ? 1 : 1 - plainDistance(a, b) / longest);
        expect(fuzzyRatio(b, a)).toBe(fuzzyRatio(a, b));
      }),
      { numRuns: 500 },
    );
  });

  it("is exact from atLeast on and below atLeast otherwise", () => {
    fc.assert(
      fc.property(pair, fc.double({ min: 0.01, max: 1, noNaN: true }), ([a, b], atLeast) => {
        const exact = fuzzyRatio(a, b);
        for (const least of [atLeast, exact, 1]) {
          const bounded = fuzzyRatio(a, b, least);
          if (exact >= least) expect(bounded).toBe(exact);
          else expect(bounded).toBeLessThan(least);
        }
      }),
      { numRuns: 1500 },
    );
  });

  it("handles samples of 100,000 units with every unit different", () => {
    const a = Array.from({ length: 100_000 }, (_, index) =>
      String.fromCharCode((index * 7) & 0xffff),
    ).join("");
    const b = `x${a.slice(0, 50_000)}yz${a.slice(50_003)}`;
    expect(fuzzyRatio(a, b, 0.9)).toBe(1 - 4 / 100_000);
    expect(fuzzyRatio(a, b)).toBe(1 - 4 / 100_000);
  });

  it("costs little for long texts that are nearly the same, and for those that cannot be alike enough", () => {
    // So long that what is demanded is far from what is measured.
    const a = seededText(40_000, 3, "abcdefghijklmnopqrstuvwxyz ");
    const near = `z${a.slice(0, 16_000)}qq${a.slice(16_100)}`;
    const far = seededText(40_000, 4, "abcdefghijklmnopqrstuvwxyz ");
    const full = least(() => editDistance(a, far));
    expect(least(() => fuzzyRatio(a, near, 0.375))).toBeLessThan(full / 3);
    expect(least(() => fuzzyRatio(a, far, 0.9))).toBeLessThan(full / 3);
  });
});

function least(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 7; round++) {
    // Of this thread alone: other test files run beside it.
    const start = process.threadCpuUsage();
    run();
    const { user, system } = process.threadCpuUsage(start);
    best = Math.min(best, user + system);
  }
  return best;
}

describe("word order", () => {
  const words = fc.array(
    fc.oneof(
      fc.stringMatching(/^[a-c]{1,9}$/),
      fc.constantFrom("a", "the", "international", "internationally", "internet"),
      fc
        .string({ unit: "binary", minLength: 1, maxLength: 6 })
        .map((word) => word.replaceAll(/\s/g, "")),
    ),
    { maxLength: 120 },
  );
  const textOf = ({ units }: SortedSample): string =>
    Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString("utf16le");

  it("is by code unit, one space between words, none at the ends", () => {
    expect(textOf(wordSorted("b a é B 10 9 "))).toBe("10 9 B a b é");
    expect(textOf(wordSorted(" "))).toBe("");
    expect(textOf(wordSorted(""))).toBe("");
    expect(textOf(wordSorted("\u{1F600} \uFFFD a\u0001 a"))).toBe("a a\u0001 \u{1F600} \uFFFD");
  });

  it("equals sorting in plain TypeScript", () => {
    fc.assert(
      fc.property(words, fc.boolean(), (list, trailing) => {
        const sample = list.join(" ") + (trailing ? " " : "");
        const sorted = wordSorted(sample);
        expect(textOf(sorted)).toBe(plainSorted(sample));
        expect(sorted.histogram).toEqual(unsorted(plainSorted(sample)).histogram);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is found for as many words as a sample can have, and for many that begin alike", () => {
    const sample = Array.from({ length: 9_000 }, (_, i) => `same${(i * 7_919) % 9_000}`).join(" ");
    expect(textOf(wordSorted(sample))).toBe(plainSorted(sample));
    const single = "a ".repeat(65_536);
    expect(textOf(wordSorted(single))).toBe(plainSorted(single));
  });

  it("gives a ratio that is exact also when words were moved, changed and left out", () => {
    fc.assert(
      fc.property(words, words, fc.nat(40), (common, own, at) => {
        const a = wordSorted(common.join(" "));
        const b = wordSorted([...common.slice(0, at), ...own, ...common.slice(at + 2)].join(" "));
        const [textA, textB] = [textOf(a), textOf(b)];
        const longest = Math.max(textA.length, textB.length);
        const exact = longest === 0 ? 1 : 1 - plainDistance(textA, textB) / longest;
        expect(ratioOfSamples(a, b)).toBe(exact);
        expect(ratioOfSamples(a, b, exact)).toBe(exact);
      }),
      { numRuns: 500 },
    );
  });

  it("refuses a sample that the module's memory cannot hold", () => {
    expect(() => wordSorted("a".repeat(131_073))).toThrow(RangeError);
  });
});
