/** The estimator against another implementation of MinHash, on the same sets. */
import { Minhash } from "minhash";
import { expect, it } from "vitest";
import { mulberry32 } from "../../../bench/corpus.ts";
import { signText } from "../../../workers/text/signature.ts";

const SIZE = 128;
const ELEMENTS = 150;
const TRIALS = 60;

type Pair = readonly [readonly string[], readonly string[]];

/** Two lists of `ELEMENTS` different words, `common` of them the same. */
function pair(random: () => number, common: number): Pair {
  const words = (count: number): string[] =>
    Array.from({ length: count }, () => Math.floor(random() * 2 ** 52).toString(36));
  const shared = words(common);
  const side = (): string[] => [...shared, ...words(ELEMENTS - common)];
  return [side(), side()];
}

function ours([a, b]: Pair): number {
  const sketch = (words: readonly string[]): Uint8Array =>
    signText(words.join(" "), { numPermutations: SIZE, numBands: 1, ngramSize: 1 }).sketch;
  const [one, other] = [sketch(a), sketch(b)];
  // The estimate of workers/sketch/estimate.ts.
  const chance = 1 / 256;
  const equal = one.filter((byte, at) => byte === other[at]).length;
  return (equal / SIZE - chance) / (1 - chance);
}

function theirs([a, b]: Pair, seed: number): number {
  const sketch = (words: readonly string[]): Minhash => {
    const made = new Minhash({ numPerm: SIZE, seed });
    for (const word of words) made.update(word);
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
