/** The exact Jaccard similarity of two sets kept as sorted, distinct 32-bit numbers. */

/**
 * Size of the intersection over size of the union of `a[aStart…aEnd)` and `b[bStart…bEnd)`, from 0
 * to 1; two empty sets share nothing and give 0. Both ranges must be sorted and without repeats;
 * allocates nothing.
 */
export function jaccardOf(
  a: Uint32Array,
  aStart: number,
  aEnd: number,
  b: Uint32Array,
  bStart: number,
  bEnd: number,
): number {
  const common = commonOf(a, aStart, aEnd, b, bStart, bEnd);
  const union = aEnd - aStart + (bEnd - bStart) - common;
  return union === 0 ? 0 : common / union;
}

/** How many numbers the two ranges share; terms as {@link jaccardOf}. */
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
