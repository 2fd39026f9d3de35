/** Scores of pairs of texts: open addressing over typed arrays, about 40 bytes a pair. */

/** The scores of a pair as they are kept. */
export interface KeptScores {
  /** -x when all that is known is that it is below x. */
  readonly jaccard: number;
  /** NaN when it was not computed. */
  readonly discriminative: number;
  /** NaN when it was not computed; -x when all that is known is that it is below x. */
  readonly fuzzy: number;
}

/** A pair with its scores. */
interface PairRow extends KeptScores {
  readonly low: number;
  readonly high: number;
}

/** Rows by place, in the order in which they were added, and by pair. */
export interface PairTable {
  /** Rows; their places are the numbers below. */
  readonly size: number;
  /** The place of a pair, in either order, or -1. */
  find(a: number, b: number): number;
  /** Adds a row at the end. Of a pair that was there already, `find` answers the new one. */
  add(a: number, b: number, scores: KeptScores): void;
  at(place: number): PairRow;
}

/** Rows of one part, so that more rows move none. */
const PART_ROWS = 8_192;
/** Parts of the index: one grows at a time, which takes a millisecond with millions of rows. */
const SHARDS = 256;
const FIRST_SLOTS = 8;

interface Part {
  readonly ends: Uint32Array;
  readonly scores: Float64Array;
}

/** An empty table; it grows. Who adds bounds it: places have to stay below 2³¹. */
export function createPairTable(): PairTable {
  const parts: Part[] = [];
  // One more than the place of a row; 0 is free.
  const shards = Array.from({ length: SHARDS }, () => new Int32Array(FIRST_SLOTS));
  const taken = new Uint32Array(SHARDS);
  let last = createPart(parts);
  let size = 0;

  function endAt(place: number, end: 0 | 1): number {
    return parts[Math.floor(place / PART_ROWS)]?.ends[2 * (place % PART_ROWS) + end] ?? 0;
  }

  /** The slot of a pair in a shard: the one that has it, or a free one. */
  function slotOf(slots: Int32Array, hash: number, low: number, high: number): number {
    const mask = slots.length - 1;
    for (let slot = Math.floor(hash / SHARDS) & mask; ; slot = (slot + 1) & mask) {
      const place = (slots[slot] ?? 0) - 1;
      if (place < 0 || (endAt(place, 0) === low && endAt(place, 1) === high)) return slot;
    }
  }

  function grow(shard: number): void {
    const before = shards[shard] ?? new Int32Array(0);
    const slots = new Int32Array(2 * before.length);
    for (const entry of before) {
      if (entry === 0) continue;
      const [low, high] = [endAt(entry - 1, 0), endAt(entry - 1, 1)];
      slots[slotOf(slots, hashOf(low, high), low, high)] = entry;
    }
    shards[shard] = slots;
  }

  function append(low: number, high: number, scores: KeptScores): void {
    const at = size % PART_ROWS;
    if (at === 0 && size > 0) last = createPart(parts);
    last.ends[2 * at] = low;
    last.ends[2 * at + 1] = high;
    last.scores[3 * at] = scores.jaccard;
    last.scores[3 * at + 1] = scores.discriminative;
    last.scores[3 * at + 2] = scores.fuzzy;
    size += 1;
  }

  return {
    get size() {
      return size;
    },
    find(a, b) {
      const [low, high] = a < b ? [a, b] : [b, a];
      const hash = hashOf(low, high);
      const slots = shards[hash % SHARDS] ?? new Int32Array(1);
      return (slots[slotOf(slots, hash, low, high)] ?? 0) - 1;
    },
    add(a, b, scores) {
      const [low, high] = a < b ? [a, b] : [b, a];
      const hash = hashOf(low, high);
      const shard = hash % SHARDS;
      // A third stays free, so that a search is short.
      if (3 * (taken[shard] ?? 0) >= 2 * (shards[shard]?.length ?? 0)) grow(shard);
      const slots = shards[shard] ?? new Int32Array(1);
      const slot = slotOf(slots, hash, low, high);
      if (slots[slot] === 0) taken[shard] = (taken[shard] ?? 0) + 1;
      append(low, high, scores);
      slots[slot] = size;
    },
    at(place) {
      const { scores } = parts[Math.floor(place / PART_ROWS)] ?? {};
      const first = 3 * (place % PART_ROWS);
      return {
        low: endAt(place, 0),
        high: endAt(place, 1),
        jaccard: scores?.[first] ?? Number.NaN,
        discriminative: scores?.[first + 1] ?? Number.NaN,
        fuzzy: scores?.[first + 2] ?? Number.NaN,
      };
    },
  };
}

function createPart(parts: Part[]): Part {
  const part = { ends: new Uint32Array(2 * PART_ROWS), scores: new Float64Array(3 * PART_ROWS) };
  parts.push(part);
  return part;
}

/** 32 bits, all of which depend on both numbers. */
function hashOf(low: number, high: number): number {
  let hash = Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 16), 0xc2b2ae35);
  return (hash ^ (hash >>> 15)) >>> 0;
}
