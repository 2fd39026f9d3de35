/** The exact Jaccard similarity of two sets kept as sorted, distinct 32-bit numbers. */
import { kernel } from "../wasm/kernel.ts";

/**
 * Size of the intersection over size of the union, from 0 to 1, when it is at least `floor`; else
 * NaN, mostly much sooner. Two empty sets share nothing and have 0. Both sets must be ascending,
 * without repeats, and of at most 262,144 numbers.
 */
export function jaccardAtLeast(a: Uint32Array, b: Uint32Array, floor: number): number {
  const [smaller, larger] = a.length <= b.length ? [a.length, b.length] : [b.length, a.length];
  if (smaller === 0) return floor > 0 ? Number.NaN : 0;
  if (smaller < floor * larger) return Number.NaN;
  const { functions, words, at } = kernel();
  words.set(a, at.shingles >> 2);
  words.set(b, at.otherShingles >> 2);
  // common / (a + b - common) ≥ floor, less what rounding may add.
  const least = Math.max(0, Math.ceil((floor * (smaller + larger)) / (1 + floor) - 1e-6));
  const common = functions.common(a.length, b.length, least);
  const jaccard = common / (smaller + larger - common);
  return jaccard >= floor ? jaccard : Number.NaN;
}

/**
 * How many numbers `a[aStart…aEnd)` and `b[bStart…bEnd)` share. Both ranges must be ascending and
 * without repeats; allocates nothing.
 */
export function commonOf(
  a: Uint32Array,
  aStart: number,
  aEnd: number,
  b: Uint32Array,
  bStart: number,
  bEnd: number,
): number {
  let common = 0;
  let i = aStart;
  let j = bStart;
  while (i < aEnd && j < bEnd) {
    const left = a[i] ?? 0;
    const right = b[j] ?? 0;
    if (left === right) common++;
    if (left <= right) i++;
    if (right <= left) j++;
  }
  return common;
}
