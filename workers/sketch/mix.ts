/** Spreading the bits of 32-bit numbers. */

/**
 * The 32-bit finalizer of MurmurHash3 (public domain): a bijection in which every input bit reaches
 * every output bit.
 */
export function mix32(value: number): number {
  let h = value ^ (value >>> 16);
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
