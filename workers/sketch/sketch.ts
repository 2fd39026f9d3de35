/**
 * Fast similarity sketching (Dahlgaard, Knudsen, Thorup: Fast Similarity Sketching, FOCS 2017): a
 * set becomes K values so that the share of equal values of two sketches estimates the Jaccard
 * similarity, with less variance than K independent minima.
 */
import { mix32 } from "./mix.ts";

const GOLDEN = 0x9e3779b1;
const VALUE_SALT = 0x5bd1e995;

/**
 * The sketch of a set of hashes. In round r every element falls into one bin by a fresh hash; a bin
 * keeps the least value of the first round that reached it. After K rounds the rounds fill one bin
 * each, so it ends by round 2K, usually after K ln K / n. Depends on the set only, not on its
 * order. The sketch of the empty set is all ones: callers keep such sets apart.
 */
export function sketchOf(set: Uint32Array, size: number): Uint32Array<ArrayBuffer> {
  const values = new Uint32Array(size).fill(0xffff_ffff);
  if (set.length === 0) return values;
  const filledIn = new Uint16Array(size);
  let empty = size;
  for (let round = 1; empty > 0; round += 1) {
    const seed = Math.imul(round, GOLDEN);
    const only = round > size ? round - size - 1 : -1;
    if (only >= 0 && filledIn[only] !== 0) continue;
    for (let i = 0; i < set.length; i += 1) {
      const h = mix32((set[i] ?? 0) ^ seed);
      const bin = only >= 0 ? only : ((h >>> 16) * size) >>> 16;
      const before = filledIn[bin] ?? 0;
      if (before !== 0 && before !== round) continue;
      const value = mix32(h ^ VALUE_SALT);
      if (before === 0) {
        filledIn[bin] = round;
        values[bin] = value;
        empty -= 1;
      } else if (value < (values[bin] ?? 0)) values[bin] = value;
    }
  }
  return values;
}

/**
 * The lowest byte of every value, as the conversion keeps it: enough for estimates (b-bit minwise
 * hashing, Li and König 2010, with b = 8).
 */
export function lowBytes(sketch: Uint32Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(sketch);
}
