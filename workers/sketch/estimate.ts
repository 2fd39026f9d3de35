/** Comparing sketches by their low bytes, four at a time. */

const CHANCE = 1 / 256;

/**
 * Bytes that a sketch of `size` values takes in a column of words: padded to whole words by zeros.
 */
export function sketchStride(size: number): number {
  return Math.ceil(size / 4) * 4;
}

/**
 * How many of the bytes of two sketches are equal; both padded alike. Positions and length count
 * 32-bit words.
 */
export function countEqual(
  column: Uint32Array,
  a: number,
  b: number,
  words: number,
  padding: number,
): number {
  let equal = words * 4 - padding;
  for (let from = 0; from < words; from += 128)
    equal -= countDifferent(column, a + from, b + from, Math.min(128, words - from));
  return equal;
}

// The top bit of each byte of `differs` says whether the bytes differ; shifted down they add up in
// four counters of a byte each.
function countDifferent(column: Uint32Array, a: number, b: number, words: number): number {
  let counters = 0;
  for (let i = 0; i < words; i += 1) {
    const x = (column[a + i] ?? 0) ^ (column[b + i] ?? 0);
    const differs = (((x & 0x7f7f_7f7f) + 0x7f7f_7f7f) | x) & 0x8080_8080;
    counters += differs >>> 7;
  }
  return (
    (counters & 0xff) + ((counters >>> 8) & 0xff) + ((counters >>> 16) & 0xff) + (counters >>> 24)
  );
}

/**
 * The Jaccard similarity estimated from `equal` of `size` equal bytes, corrected for those that
 * agree by chance; from -1/255 to 1.
 */
export function estimateFrom(equal: number, size: number): number {
  return (equal / size - CHANCE) / (1 - CHANCE);
}

/** The estimate for two sketches given as bytes. */
export function estimate(a: Uint8Array, b: Uint8Array): number {
  let equal = 0;
  for (let i = 0; i < a.length; i += 1) if (a[i] === b[i]) equal += 1;
  return estimateFrom(equal, a.length);
}

/**
 * How far the estimate of a pair may lie below a bound that the pair reaches: .10 with 256 values,
 * three standard deviations and more of √(J (1 − J) / K) wherever J is.
 */
function estimateMargin(size: number): number {
  return 1.6 / Math.sqrt(size);
}

/** The fewest equal bytes with which the estimate is at least `bound` less the margin. */
export function leastEqual(bound: number, size: number): number {
  return bytesFor(bound - estimateMargin(size), size);
}

/** The fewest equal bytes with which the estimate is at least `estimated`. */
export function bytesFor(estimated: number, size: number): number {
  const share = estimated * (1 - CHANCE) + CHANCE;
  return Math.max(0, Math.ceil(share * size - 1e-9));
}
