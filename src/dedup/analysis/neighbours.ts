/**
 * Which candidates of a class are looked at: its best by estimate, then by hash. A pair goes on if
 * either end keeps it. What is kept is a function of the set of pairs alone, whatever their order.
 */
import type { Breath } from "./breath.ts";

/** Candidates a class keeps. */
const NEIGHBOUR_LIMIT = 1_024;

/** Pairs by their lower class. */
interface Candidates {
  /** Where the pairs of a class begin in `highs`; one entry more than there are classes. */
  readonly starts: Uint32Array;
  /** The higher classes, ascending in each row. */
  readonly highs: Uint32Array;
  /** Equal sketch values of each pair. */
  readonly equal: Uint16Array;
}

/**
 * Pairs on their way from the join to the verification. At most 2 × limit candidates a class are
 * held.
 */
export interface Neighbours {
  /** Pairs added so far. */
  readonly added: number;
  /** Classes that had more candidates than they keep, or were not compared with all they met. */
  readonly limited: number;
  /** Each pair once. `equal` is its rank: the sketch values it shares. */
  add(low: number, high: number, equal: number): void;
  /** Notes that a class was not compared with all it met. */
  limit(one: number): void;
  /** What goes on. */
  candidates(breath: Breath): Promise<Candidates>;
}

interface Kept {
  others: Uint32Array;
  ranks: Uint16Array;
  count: number;
  limited: boolean;
  /** Once more than the limit were there: what ranks below this is not among the best. */
  least: number;
}

/** Candidates of each rank in a list, for `prune`; all 0 between two calls. */
const ranked = new Uint32Array(2 ** 16);

/**
 * Keeps the best `limit` of each of `classes` classes, which are in the order of their hashes: of
 * candidates that rank alike the lower ones.
 */
export function createNeighbours(classes: number, limit: number = NEIGHBOUR_LIMIT): Neighbours {
  const kept = new Map<number, Kept>();
  const crowded = new Set<number>();
  let added = 0;

  function keep(one: number, other: number, rank: number): void {
    let list = kept.get(one);
    if (!list)
      kept.set(
        one,
        (list = {
          others: new Uint32Array(2),
          ranks: new Uint16Array(2),
          count: 0,
          limited: false,
          least: 0,
        }),
      );
    if (rank < list.least) return;
    if (list.count === 2 * limit) prune(list);
    if (list.count === list.others.length) grow(list, Math.min(2 * limit, list.count * 2));
    list.others[list.count] = other;
    list.ranks[list.count] = rank;
    list.count += 1;
  }

  /** Keeps the best: all above a rank, and of that rank the lowest classes. Linear. */
  function prune(list: Kept): void {
    if (list.count <= limit) return;
    const { others, ranks, count } = list;
    let highest = 0;
    for (const rank of ranks.subarray(0, count)) {
      ranked[rank] = (ranked[rank] ?? 0) + 1;
      if (rank > highest) highest = rank;
    }
    let least = highest;
    let above = 0;
    while (above + (ranked[least] ?? 0) < limit) {
      above += ranked[least] ?? 0;
      least -= 1;
    }
    const equals: number[] = [];
    let kept = 0;
    for (let i = 0; i < count; i += 1) {
      const rank = ranks[i] ?? 0;
      ranked[rank] = 0;
      if (rank === least) equals.push(others[i] ?? 0);
      if (rank <= least) continue;
      others[kept] = others[i] ?? 0;
      ranks[kept] = rank;
      kept += 1;
    }
    for (const other of Uint32Array.from(equals)
      .sort()
      .subarray(0, limit - kept)) {
      others[kept] = other;
      ranks[kept] = least;
      kept += 1;
    }
    list.count = kept;
    list.limited = true;
    list.least = least;
  }

  return {
    get added() {
      return added;
    },
    get limited() {
      let count = crowded.size;
      for (const [one, list] of kept)
        if ((list.limited || list.count > limit) && !crowded.has(one)) count += 1;
      return count;
    },
    add(low, high, equal) {
      added += 1;
      keep(low, high, equal);
      keep(high, low, equal);
    },
    limit: (one) => void crowded.add(one),
    async candidates(breath) {
      for (const list of kept.values()) {
        prune(list);
        await breath.step(list.count);
      }
      return toRows(kept, classes, breath);
    },
  };
}

function grow(list: Kept, capacity: number): void {
  const { others, ranks } = list;
  list.others = new Uint32Array(capacity);
  list.ranks = new Uint16Array(capacity);
  list.others.set(others);
  list.ranks.set(ranks);
}

/** Turns lists into rows; a pair that both ends keep is there once. */
async function toRows(
  kept: ReadonlyMap<number, Kept>,
  classes: number,
  breath: Breath,
): Promise<Candidates> {
  const starts = new Uint32Array(classes + 1);
  for (const [one, list] of kept) {
    for (const other of list.others.subarray(0, list.count))
      starts[Math.min(one, other) + 1] = (starts[Math.min(one, other) + 1] ?? 0) + 1;
    await breath.step(list.count);
  }
  for (let row = 0; row < classes; row += 1)
    starts[row + 1] = (starts[row + 1] ?? 0) + (starts[row] ?? 0);
  // A pair is the higher class with its rank below it, so that a sort keeps them together.
  const pairs = new Float64Array(starts[classes] ?? 0);
  const next = starts.slice();
  for (const [one, list] of kept) {
    for (let i = 0; i < list.count; i += 1) {
      const other = list.others[i] ?? 0;
      const low = Math.min(one, other);
      pairs[next[low] ?? 0] = Math.max(one, other) * RANKS + (list.ranks[i] ?? 0);
      next[low] = (next[low] ?? 0) + 1;
    }
    await breath.step(list.count);
  }
  return withoutRepeats(starts, pairs, breath);
}

/** More than the greatest rank. */
const RANKS = 2 ** 16;

async function withoutRepeats(
  starts: Uint32Array,
  pairs: Float64Array,
  breath: Breath,
): Promise<Candidates> {
  const classes = starts.length - 1;
  const highs = new Uint32Array(pairs.length);
  const equal = new Uint16Array(pairs.length);
  let to = 0;
  let from = 0;
  for (let row = 0; row < classes; row += 1) {
    const end = starts[row + 1] ?? 0;
    const rowStart = to;
    let before = -1;
    for (const pair of pairs.subarray(from, end).sort()) {
      if (pair === before) continue;
      before = pair;
      highs[to] = Math.floor(pair / RANKS);
      equal[to] = pair % RANKS;
      to += 1;
    }
    starts[row] = rowStart;
    await breath.step(1 + end - from);
    from = end;
  }
  starts[classes] = to;
  return { starts, highs: highs.slice(0, to), equal: equal.slice(0, to) };
}
