/**
 * The fuzzy ratio of two texts: how alike they are letter by letter once their words are put in
 * order.
 */
import { kernel } from "../wasm/kernel.ts";
import { editDistance, MAX_DISTANCE_UNITS } from "./edit-distance.ts";

/** The words of a sample in code-unit order, joined by one space. Made once a text. */
export interface SortedSample {
  readonly units: Uint16Array;
  /** How many units have each value of their low seven bits. */
  readonly histogram: Uint32Array;
}

const BINS = 128;

/**
 * Sorts the words of a sample of a normalised text, which has no white space but spaces. Throws a
 * RangeError above 131,072 units.
 */
export function wordSorted(sample: string): SortedSample {
  if (sample.length > MAX_DISTANCE_UNITS)
    throw new RangeError(`a sample of ${sample.length} units exceeds ${MAX_DISTANCE_UNITS}`);
  const { functions, buffer, units, words, at } = kernel();
  buffer.write(sample, at.columns, "utf16le");
  const length = functions.sortWords(sample.length);
  return {
    units: units.slice(at.rows >> 1, (at.rows >> 1) + length),
    histogram: words.slice(at.histogram >> 2, (at.histogram >> 2) + BINS),
  };
}

/**
 * 1 - Levenshtein distance / longer length, on UTF-16 code units with unit costs: from 0 to 1, 1
 * for two empty texts, 0 when one is empty. Equal to the plain computation to the last digit.
 *
 * With `atLeast` (0 to 1) the answer is exact when it is `atLeast` or more; a lower ratio is
 * answered by some number below `atLeast`, and mostly much sooner.
 */
export function fuzzyRatio(a: SortedSample, b: SortedSample, atLeast: number = 0): number {
  const longest = Math.max(a.units.length, b.units.length);
  if (longest === 0) return 1;
  if (a.units.length === 0 || b.units.length === 0) return 0;
  // One more than the largest distance allowed, so that rounding can never turn away a ratio equal
  // to `atLeast`.
  const limit = atLeast > 0 ? Math.max(0, Math.floor((1 - atLeast) * longest) + 1) : longest;
  if (leastDistance(a.histogram, b.histogram) > limit) return 0;
  const distance = editDistance(a.units, b.units, { limit, upper: mergeBound });
  return distance < 0 ? 0 : 1 - distance / longest;
}

/** A lower bound of the distance: units that only one side has must go or come. */
function leastDistance(a: Uint32Array, b: Uint32Array): number {
  let onlyA = 0;
  let onlyB = 0;
  for (let i = 0; i < BINS; i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference > 0) onlyA += difference;
    else onlyB -= difference;
  }
  return Math.max(onlyA, onlyB);
}

/**
 * An upper bound of the distance of the texts at ROWS and COLUMNS: words that both have stay,
 * between two of them the longer side is replaced.
 */
function mergeBound(rows: number, columns: number): number {
  return kernel().functions.mergeBound(rows, columns);
}
