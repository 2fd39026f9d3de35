/**
 * The fuzzy ratio of two texts: how alike they are letter by letter once their words are put in
 * order.
 */
import { editDistance } from "./edit-distance.ts";

/**
 * The words of a sample in code-unit order, joined by one space; words are separated by whitespace
 * as JavaScript understands it. Done once a text, not once a pair.
 */
export function wordSorted(sample: string): string {
  return sample
    .split(/\s+/)
    .filter((word) => word !== "")
    .sort()
    .join(" ");
}

/**
 * 1 - Levenshtein distance / longer length, on UTF-16 code units with unit costs: from 0 to 1, 1
 * for two empty texts, 0 when one is empty. Equal to the plain
 * computation to the last digit.
 *
 * With `atLeast` (0 to 1) the answer is exact when it is `atLeast` or more; a lower ratio is
 * answered by some number below `atLeast`, and mostly much sooner. Memory is bounded by the longer
 * text.
 */
export function fuzzyRatio(sortedA: string, sortedB: string, atLeast: number = 0): number {
  if (sortedA === sortedB) return 1;
  const longest = Math.max(sortedA.length, sortedB.length);
  if (sortedA === "" || sortedB === "") return 0;
  // One more than the largest distance allowed, so that rounding can never turn away a ratio equal
  // to `atLeast`.
  const limit = atLeast > 0 ? Math.max(0, Math.floor((1 - atLeast) * longest) + 1) : longest;
  const distance = editDistance(sortedA, sortedB, limit);
  return distance < 0 ? 0 : 1 - distance / longest;
}
