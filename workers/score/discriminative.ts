/**
 * The discriminative score D: how far two texts agree in dates, times, amounts, identifiers,
 * references and routes.
 */
import { commonOf } from "./jaccard.ts";
import { CATEGORIES, WEIGHTS, type TokenSets } from "./token-sets.ts";

/** D of a pair in which one text has tokens and the other has none. */
const ONE_SIDED = 0.5;
/**
 * Tokens of one category that the hashed form keeps; a sample of 100,000 units cannot hold so many.
 */
const MAX_TOKENS = 65_535;
const WEIGHT_OF: readonly number[] = CATEGORIES.map((category) => WEIGHTS[category]);

/**
 * The tokens of a text as numbers: per category sorted distinct 32-bit hashes, one category after
 * the other.
 */
export interface HashedTokens {
  readonly words: Uint32Array;
  /** Six entries, in the order of CATEGORIES: how many of `words` belong to each. */
  readonly counts: Uint16Array;
}

/**
 * From 0 to 1: the mean of the categories' Jaccard similarities, weighted by WEIGHTS, over the
 * categories in which at least one text has tokens. Neither text has any: 1. Only one has: 0.5.
 */
export function discriminativeScore(a: TokenSets, b: TokenSets): number {
  const tally = { sum: 0, weight: 0, inA: 0, inB: 0 };
  for (const category of CATEGORIES) {
    const known = new Set(a[category]);
    const common = b[category].filter((token) => known.has(token)).length;
    const union = known.size + b[category].length - common;
    tally.inA += known.size;
    tally.inB += b[category].length;
    if (union === 0) continue;
    tally.sum += WEIGHTS[category] * (common / union);
    tally.weight += WEIGHTS[category];
  }
  if (tally.inA === 0 || tally.inB === 0) return tally.inA === tally.inB ? 1 : ONE_SIDED;
  return tally.sum / tally.weight;
}

/** The hashed form of a text's tokens (FNV-1a, 32 bits, over UTF-16 units). */
export function hashTokens(sets: TokenSets): HashedTokens {
  const perCategory = CATEGORIES.map((category) =>
    Uint32Array.from(new Set(sets[category].slice(0, MAX_TOKENS).map(hashOf))).sort(),
  );
  const words = new Uint32Array(perCategory.reduce((sum, hashes) => sum + hashes.length, 0));
  let at = 0;
  for (const hashes of perCategory) {
    words.set(hashes, at);
    at += hashes.length;
  }
  return { words, counts: Uint16Array.from(perCategory, (hashes) => hashes.length) };
}

/**
 * {@link discriminativeScore} from the hashed form, bit for bit the same unless two different
 * tokens share a hash (about one in four thousand million pairs of tokens). `aOffset` is where the
 * text's hashes begin in `a`, `aCountsOffset` where its six counts begin in `aCounts`; likewise for
 * `b`. Allocates nothing.
 */
export function discriminativeOfHashes(
  a: Uint32Array,
  aCounts: Uint16Array,
  aOffset: number,
  b: Uint32Array,
  bCounts: Uint16Array,
  bOffset: number,
  aCountsOffset: number = 0,
  bCountsOffset: number = 0,
): number {
  let sum = 0;
  let weight = 0;
  let aAt = aOffset;
  let bAt = bOffset;
  for (let category = 0; category < WEIGHT_OF.length; category++) {
    const aEnd = aAt + (aCounts[aCountsOffset + category] ?? 0);
    const bEnd = bAt + (bCounts[bCountsOffset + category] ?? 0);
    if (aEnd > aAt || bEnd > bAt) {
      const common = commonOf(a, aAt, aEnd, b, bAt, bEnd);
      const categoryWeight = WEIGHT_OF[category] ?? 0;
      sum += categoryWeight * (common / (aEnd - aAt + (bEnd - bAt) - common));
      weight += categoryWeight;
    }
    aAt = aEnd;
    bAt = bEnd;
  }
  const aHasNone = aAt === aOffset;
  const bHasNone = bAt === bOffset;
  if (aHasNone || bHasNone) return aHasNone === bHasNone ? 1 : ONE_SIDED;
  return sum / weight;
}

function hashOf(token: string): number {
  let hash = 0x811c_9dc5;
  for (let index = 0; index < token.length; index++)
    hash = Math.imul(hash ^ token.charCodeAt(index), 0x0100_0193);
  return hash >>> 0;
}
