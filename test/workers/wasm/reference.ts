/**
 * The arithmetic of `workers/wasm/assembly` in plain TypeScript, for the tests to hold the two
 * together: the same numbers, written to be read.
 */
import { normalise } from "../../../workers/text/normalise.ts";

const MASK = 0xffff_ffff_ffff_ffffn;
const LENGTH_FACTOR = 0x9e37_79b9_7f4a_7c15n;
const WORD_FACTOR = 0xbf58_476d_1ce4_e5b9n;
const TAIL_FACTOR = 0x94d0_49bb_1331_11ebn;
const SHINGLE_FACTOR = 0xd6e8_feb8_6659_fd93n;
const WINDOW_FACTOR = 0xff51_afd7_ed55_8ccdn;
const FREE_ROUNDS = 254;

/** Hash of a word: eight bytes of its UTF-8 at a time. */
function wordHash(word: string): bigint {
  const bytes = Buffer.from(word, "utf8");
  let hash = (BigInt(bytes.length) * LENGTH_FACTOR) & MASK;
  let at = 0;
  for (; bytes.length - at > 8; at += 8) {
    hash = ((hash ^ bytes.readBigUInt64LE(at)) * WORD_FACTOR) & MASK;
    hash ^= hash >> 29n;
  }
  const tail = Buffer.alloc(8);
  bytes.copy(tail, 8 - (bytes.length - at), at);
  hash = ((hash ^ tail.readBigUInt64LE()) * TAIL_FACTOR) & MASK;
  return hash ^ (hash >> 32n);
}

/** Hash of every window of `size` words, in the order of the text. */
export function shinglesOf(text: string, size: number): number[] {
  const normalised = normalise(text);
  const words = normalised === "" ? [] : normalised.split(" ").map(wordHash);
  const shingles: number[] = [];
  for (let i = 0; i + size <= words.length; i += 1) {
    const window = words
      .slice(i, i + size)
      .reduce((sum, word) => (sum * WINDOW_FACTOR + word) & MASK, 0n);
    shingles.push(Number((((window ^ (window >> 32n)) * SHINGLE_FACTOR) & MASK) >> 32n));
  }
  return shingles;
}

function spread(value: number): number {
  let h = value ^ (value >>> 16);
  h = Math.imul(h, 0x85eb_ca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2_ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function hashIn(round: number, shingle: number): number {
  return spread((shingle ^ Math.imul(round, 0x9e37_79b1)) >>> 0);
}

function valueOf(hash: number): number {
  return (Math.imul(hash, 0x9e37_79b9) >>> 8) >>> 0;
}

/** What a bin holds: the least (round, value) that any shingle has for it. */
export function sketchOf(shingles: Iterable<number>, size: number): Uint32Array {
  const bins = new Uint32Array(size).fill(0xffff_ffff);
  const set = [...new Set(shingles)];
  const empty = new Set(bins.keys());
  for (let round = 1; round <= FREE_ROUNDS && empty.size > 0; round += 1)
    for (const shingle of set) {
      const hash = hashIn(round, shingle);
      const bin = ((hash >>> 16) * size) >>> 16;
      empty.delete(bin);
      bins[bin] = Math.min(bins[bin] ?? 0, ((round << 24) | valueOf(hash)) >>> 0);
    }
  for (const bin of empty)
    bins[bin] =
      0xff00_0000 +
      Math.min(...set.map((shingle) => valueOf(hashIn(FREE_ROUNDS + 1 + bin, shingle))));
  return bins;
}

/** One key per band. */
export function bandKeys(bins: Uint32Array, bands: number): Uint32Array {
  const rows = Math.floor(bins.length / bands);
  return Uint32Array.from({ length: bands }, (_, band) => {
    let key = WINDOW_FACTOR;
    for (const value of bins.subarray(band * rows, (band + 1) * rows)) {
      key = ((key ^ BigInt(value)) * WINDOW_FACTOR) & MASK;
      key ^= key >> 32n;
    }
    return Number(key & 0xffff_ffffn);
  });
}
