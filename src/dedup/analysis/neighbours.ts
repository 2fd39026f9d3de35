/**
 * Which candidates of a class are looked at: its best by estimate, then by hash. A pair goes on if
 * either end keeps it. What is kept is a function of the set of pairs alone, whatever their order.
 */
import type { Breath } from "./breath.ts";

/** Candidates a class keeps. */
const NEIGHBOUR_LIMIT = 1_024;
/**
 * Candidates of all classes together, 6 bytes each here and some 60 at the peak of what follows. A
 * class keeps 1,024 as long as this is enough, else half of that, a quarter, and so on.
 */
const MAX_KEPT = 2 ** 25;

/** Pairs by their lower class. */
export interface Candidates {
  /** Where the pairs of a class begin in `highs`; one entry more than there are classes. */
  readonly starts: Uint32Array;
  /** The higher classes, ascending in each row. */
  readonly highs: Uint32Array;
  /** Equal sketch values of each pair. */
  readonly equal: Uint16Array;
}

/** Pairs on their way from the join to the verification. */
export interface Neighbours {
  /** Pairs added or skipped so far. */
  readonly added: number;
  /**
   * Classes that had more candidates than they keep, or were not compared with all they met. Known
   * once the candidates are.
   */
  readonly limited: number;
  /**
   * u16 by class, shared: a pair that ranks lower for both its classes is of no use, and whoever
   * finds it may skip it. Rises while pairs are added.
   */
  readonly leastRanks: SharedArrayBuffer;
  /**
   * Each pair once. `equal` is its rank: the sketch values it shares. Answers how many cheap steps
   * it took.
   */
  add(low: number, high: number, equal: number): number;
  /** Counts pairs that were found and skipped. */
  skip(pairs: number): void;
  /** Notes that a class was not compared with all it met. */
  limit(one: number): void;
  /** Keeps fewer of each class while there are too many; call after every some 100,000 pairs. */
  shrink(breath: Breath): Promise<void>;
  /** What goes on. Nothing is held afterwards. */
  candidates(breath: Breath): Promise<Candidates>;
}

interface Kept {
  others: Uint32Array;
  ranks: Uint16Array;
  count: number;
  /** Candidates that were there, also those that are not kept; at most one more than the limit. */
  seen: number;
}

/** Candidates of each rank in a list, for `prune`; all 0 between two calls. */
const ranked = new Uint32Array(2 ** 16);

/** How many candidates are kept; both are for tests. */
interface NeighbourLimits {
  /** Of each class. */
  readonly limit?: number;
  /** Of all together. */
  readonly maxKept?: number;
}

/**
 * Keeps the best candidates of each of `classes` classes, which are in the order of their hashes:
 * of candidates that rank alike the lower ones.
 */
export function createNeighbours(
  classes: number,
  { limit: mostOfClass = NEIGHBOUR_LIMIT, maxKept = MAX_KEPT }: NeighbourLimits = {},
): Neighbours {
  const kept = new Map<number, Kept>();
  const crowded = new Set<number>();
  const leastRanks = new Uint16Array(new SharedArrayBuffer(2 * classes));
  let limit = mostOfClass;
  let added = 0;
  let limited = 0;
  // What would be kept if every list were pruned now.
  let total = 0;

  /** Answers its steps. */
  function keep(one: number, other: number, rank: number): number {
    let list = kept.get(one);
    if (!list) {
      list = { others: new Uint32Array(2), ranks: new Uint16Array(2), count: 0, seen: 0 };
      kept.set(one, list);
    }
    if (list.seen <= limit) list.seen += 1;
    if (list.seen <= limit) total += 1;
    if (rank < (leastRanks[one] ?? 0)) return 1;
    let steps = 2;
    if (list.count === 2 * limit) {
      steps += list.count;
      leastRanks[one] = prune(list, limit);
    }
    if (list.count === list.others.length) resize(list, Math.min(2 * limit, list.count * 2));
    list.others[list.count] = other;
    list.ranks[list.count] = rank;
    list.count += 1;
    return steps;
  }

  async function shrink(breath: Breath): Promise<void> {
    while (total > maxKept && limit > 1) {
      limit = Math.ceil(limit / 2);
      total = 0;
      for (const [one, list] of kept) {
        await breath.step(list.count);
        if (list.count > limit) leastRanks[one] = prune(list, limit);
        if (list.others.length > 2 * limit) resize(list, 2 * limit);
        list.seen = Math.min(list.seen, limit + 1);
        total += Math.min(list.seen, limit);
      }
    }
  }

  return {
    get added() {
      return added;
    },
    get limited() {
      return limited;
    },
    leastRanks: leastRanks.buffer,
    add(low, high, equal) {
      added += 1;
      return 1 + keep(low, high, equal) + keep(high, low, equal);
    },
    skip: (pairs) => void (added += pairs),
    limit: (one) => void crowded.add(one),
    shrink,
    async candidates(breath) {
      await shrink(breath);
      for (const [one, list] of kept) {
        if (list.count > limit) prune(list, limit);
        if (list.seen > limit) crowded.add(one);
        await breath.step(list.count);
      }
      limited = crowded.size;
      return toRows(kept, classes, breath);
    },
  };
}

/**
 * Keeps the best of more than `limit`: all above a rank, and of that rank the lowest classes.
 * Answers that rank. Linear.
 */
function prune(list: Kept, limit: number): number {
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
  return least;
}

function resize(list: Kept, capacity: number): void {
  const { others, ranks } = list;
  list.others = new Uint32Array(capacity);
  list.ranks = new Uint16Array(capacity);
  list.others.set(others.subarray(0, list.count));
  list.ranks.set(ranks.subarray(0, list.count));
}

/** Turns lists into rows and empties them; a pair that both ends keep is there once. */
async function toRows(
  kept: Map<number, Kept>,
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
    kept.delete(one);
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
