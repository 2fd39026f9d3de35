/**
 * Estimates from sketches by their low bytes. With e of K bytes equal, the Jaccard similarity is
 * estimated as (e / K - c) / (1 - c), where c = 1/256 is the share that agrees by chance.
 */

const CHANCE = 1 / 256;

/**
 * Bytes that a sketch of `size` values takes in a column of words: padded to whole words by zeros.
 */
export function sketchStride(size: number): number {
  return Math.ceil(size / 4) * 4;
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

/** Equal bytes of two sketches in a column; positions in bytes. */
export function equalBytes(column: Uint8Array, a: number, b: number, size: number): number {
  let equal = 0;
  for (let i = 0; i < size; i += 1) if (column[a + i] === column[b + i]) equal += 1;
  return equal;
}
