/** The estimator against another implementation of MinHash, on the same sets. */
import { Minhash } from "minhash";
import { expect, it } from "vitest";
import { mulberry32 } from "../../../bench/corpus.ts";
import { estimate } from "../../../workers/sketch/estimate.ts";
import { lowBytes, sketchOf } from "../../../workers/sketch/sketch.ts";

const SIZE = 128;
const ELEMENTS = 150;
const TRIALS = 60;

/** Two sets of `ELEMENTS` hashes, `common` of them shared. */
function pair(random: () => number, common: number): readonly [Uint32Array, Uint32Array] {
  const hashes = (count: number): number[] =>
    Array.from({ length: count }, () => Math.floor(random() * 2 ** 32));
  const shared = hashes(common);
  const side = (): Uint32Array => Uint32Array.from([...shared, ...hashes(ELEMENTS - common)]);
  return [side(), side()];
}

function ours([a, b]: readonly [Uint32Array, Uint32Array]): number {
  return estimate(lowBytes(sketchOf(a, SIZE)), lowBytes(sketchOf(b, SIZE)));
}

function theirs([a, b]: readonly [Uint32Array, Uint32Array], seed: number): number {
  const sketch = (set: Uint32Array): Minhash => {
    const made = new Minhash({ numPerm: SIZE, seed });
    for (const hash of set) made.update(hash.toString(36));
    return made;
  };
  return sketch(a).jaccard(sketch(b));
}

function meanAndVariance(values: readonly number[]): readonly [mean: number, variance: number] {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return [mean, squares / (values.length - 1)];
}

it.each([30, 75, 120, 142])(
  "estimates like independent minima, and scatters no wider: %i of 150 elements in common",
  (common) => {
    const random = mulberry32(common);
    const pairs = Array.from({ length: TRIALS }, () => pair(random, common));
    const [mine, mySpread] = meanAndVariance(pairs.map(ours));
    const [other, otherSpread] = meanAndVariance(
      pairs.map((each, trial) => theirs(each, 1 + trial * 2 * SIZE)),
    );
    const error = Math.sqrt((mySpread + otherSpread) / TRIALS);
    expect(Math.abs(mine - other)).toBeLessThan(4 * error);
    // The variance of a variance over 60 trials lets it be twice as wide by chance.
    expect(mySpread).toBeLessThan(2 * otherSpread);
  },
);
