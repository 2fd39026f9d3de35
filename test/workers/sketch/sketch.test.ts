import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mulberry32 } from "../../../bench/corpus.ts";
import { leastEqual } from "../../../workers/sketch/estimate.ts";
import { signText } from "../../../workers/text/signature.ts";

/** .10 with 256 values. */
const marginOf = (size: number): number => 1.6 / Math.sqrt(size);
/** The estimate of `equal` equal bytes, chance taken out. */
const estimateFrom = (equal: number, size: number): number =>
  (equal / size - 1 / 256) / (1 - 1 / 256);
const estimate = (a: Uint8Array, b: Uint8Array): number =>
  estimateFrom(a.filter((byte, i) => byte === b[i]).length, a.length);
const sizes = fc.constantFrom(16, 63, 128, 256, 1_024);
const sketch = (words: readonly string[], size: number): Uint8Array =>
  signText(words.join(" "), { numPermutations: size, numBands: 1, ngramSize: 1 }).sketch;

/** Two lists of `n` different words of which `common` are the same. */
function overlapping(random: () => number, n: number, common: number): [string[], string[]] {
  const fresh = (): string => Math.floor(random() * 2 ** 52).toString(36);
  const shared = Array.from({ length: common }, fresh);
  const side = (): string[] => [...shared, ...Array.from({ length: n - common }, fresh)];
  return [side(), side()];
}

describe("a sketch", () => {
  it("depends on the set of shingles and not on their order or number", () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[a-z]{1,3}$/), { minLength: 1, maxLength: 60 }),
        sizes,
        (words, size) => {
          expect(sketch([...words.toReversed(), ...words], size)).toEqual(sketch(words, size));
        },
      ),
    );
  });

  it("has a value of its own in every bin, down to sets of one", () => {
    const values = sketch(["one"], 1_024);
    expect(new Set(values).size).toBeGreaterThan(240);
  });

  for (const [n, size] of [
    [1, 256],
    [4, 1_024],
    [20, 256],
    [60, 256],
    [150, 256],
    [300, 128],
    [1_200, 256],
  ] as const) {
    it(`estimates without bias: ${n} shingles in ${size} values`, () => {
      const random = mulberry32(n + size);
      const trials = 400;
      let sum = 0;
      let squares = 0;
      for (let i = 0; i < trials; i += 1) {
        const common = Math.floor(n * (0.5 + (i % 5) / 10));
        const [a, b] = overlapping(random, n, common);
        const truth = common / (2 * n - common);
        const error = estimate(sketch(a, size), sketch(b, size)) - truth;
        sum += error;
        squares += error ** 2;
      }
      const sd = Math.sqrt(squares / trials);
      expect(Math.abs(sum / trials)).toBeLessThan((4 * sd) / Math.sqrt(trials));
      // No wider than K independent minima (with their 8-bit correction), well within the margin of
      // the filter.
      expect(sd).toBeLessThan((0.5 * 1.1) / Math.sqrt(size));
      expect(3 * sd).toBeLessThan(marginOf(size) * 1.1);
    });
  }

  it("fills its last bins by the same hashes as its first, so that no pair of texts is lost", () => {
    // About 60 shingles fill 256 bins around round 25, one text a round before or after the other:
    // were the last bins filled by another rule from some round on, equal shingles would differ.
    const random = mulberry32(7);
    const numPermutations = 256;
    const shape = { numPermutations, numBands: 64, ngramSize: 1 };
    for (const n of [8, 30, 60, 90]) {
      let agreed = 0;
      let expected = 0;
      let missed = 0;
      for (let i = 0; i < 500; i += 1) {
        const common = Math.round(n * 0.8);
        const [a, b] = overlapping(random, n, common).map((words) =>
          signText(words.join(" "), shape),
        );
        if (!a || !b) continue;
        const jaccard = common / (2 * n - common);
        expected += numPermutations * (jaccard + (1 - jaccard) / 256);
        agreed += a.sketch.filter((value, at) => value === b.sketch[at]).length;
        if (!a.bands.some((key, band) => key === b.bands[band])) missed += 1;
      }
      expect(Math.abs(agreed / expected - 1), `${n} shingles`).toBeLessThan(0.02);
      expect(missed, `${n} shingles`).toBe(0);
    }
  });
});

describe("comparing sketches", () => {
  it("turns a bound into the fewest equal bytes that still pass", () => {
    for (const size of [16, 256, 1_000])
      for (const bound of [0.3, 0.583, 0.9]) {
        const least = leastEqual(bound, size);
        expect(estimateFrom(least, size)).toBeGreaterThanOrEqual(bound - marginOf(size) - 1e-6);
        if (least > 0) expect(estimateFrom(least - 1, size)).toBeLessThan(bound - marginOf(size));
      }
    expect(leastEqual(-1, 256)).toBe(0);
  });
});
