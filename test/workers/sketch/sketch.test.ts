import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mulberry32 } from "../../../bench/corpus.ts";
import { bandKeys } from "../../../workers/sketch/bands.ts";
import {
  countEqual,
  estimate,
  estimateFrom,
  leastEqual,
  sketchStride,
} from "../../../workers/sketch/estimate.ts";
import { lowBytes, sketchOf } from "../../../workers/sketch/sketch.ts";

/** .10 with 256 values. */
const marginOf = (size: number): number => 1.6 / Math.sqrt(size);
const sizes = fc.constantFrom(16, 63, 128, 256, 1_024);
const sets = fc.uniqueArray(fc.integer({ min: 0, max: 0xffff_ffff }), {
  minLength: 1,
  maxLength: 60,
});

function overlapping(random: () => number, n: number, common: number): [Uint32Array, Uint32Array] {
  const fresh = (): number => Math.floor(random() * 2 ** 32);
  const shared = Array.from({ length: common }, fresh);
  const side = (): Uint32Array =>
    Uint32Array.from([...shared, ...Array.from({ length: n - common }, fresh)]);
  return [side(), side()];
}

describe("a sketch", () => {
  it("depends on the set and not on its order", () => {
    fc.assert(
      fc.property(sets, sizes, (set, size) => {
        expect(sketchOf(Uint32Array.from(set.toReversed()), size)).toEqual(
          sketchOf(Uint32Array.from(set), size),
        );
      }),
    );
  });

  it("of equal sets is equal in every band", () => {
    const sketch = sketchOf(Uint32Array.of(1, 2, 3), 64);
    expect(bandKeys(sketch, 16)).toEqual(bandKeys(sketchOf(Uint32Array.of(3, 2, 1), 64), 16));
    expect(bandKeys(sketch, 16)).toHaveLength(16);
  });

  it("has a value of its own in every bin, down to sets of one", () => {
    const values = sketchOf(Uint32Array.of(7), 1_024);
    expect(new Set(values).size).toBeGreaterThan(1_000);
  });

  it("of a union has the least filled values: every value comes from one of the parts", () => {
    fc.assert(
      fc.property(sets, sets, (a, b) => {
        const union = sketchOf(Uint32Array.from(new Set([...a, ...b])), 64);
        const parts = [sketchOf(Uint32Array.from(a), 64), sketchOf(Uint32Array.from(b), 64)];
        expect([...union].every((value, i) => parts.some((part) => part[i] === value))).toBe(true);
      }),
    );
  });

  for (const [n, size] of [
    [20, 256],
    [150, 256],
    [300, 128],
    [1_200, 256],
  ] as const) {
    it(`estimates without bias: ${n} shingles in ${size} values`, () => {
      const random = mulberry32(n + size);
      const trials = 400;
      let sum = 0;
      let squares = 0;
      let truth = 0;
      for (let i = 0; i < trials; i += 1) {
        const common = Math.floor(n * (0.5 + (i % 5) / 10));
        const [a, b] = overlapping(random, n, common);
        truth = common / (2 * n - common);
        const error = estimate(lowBytes(sketchOf(a, size)), lowBytes(sketchOf(b, size))) - truth;
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
});

describe("comparing sketches", () => {
  it("counts equal bytes like a plain loop, whatever the length", () => {
    fc.assert(
      fc.property(sizes, fc.integer(), (size, seed) => {
        const random = mulberry32(seed);
        const stride = sketchStride(size);
        const column = new Uint8Array(stride * 2);
        for (let i = 0; i < size; i += 1) {
          column[i] = Math.floor(random() * 256);
          column[stride + i] = random() < 0.5 ? (column[i] ?? 0) : Math.floor(random() * 256);
        }
        const plain = Array.from(
          { length: size },
          (_, i) => column[i] === column[stride + i],
        ).filter(Boolean).length;
        expect(
          countEqual(new Uint32Array(column.buffer), 0, stride / 4, stride / 4, stride - size),
        ).toBe(plain);
      }),
    );
  });

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
