/**
 * A sorted sequence of slots that grows and shrinks. New slots wait in a heap of their own until
 * they are an eighth of the whole or somebody asks, then are sorted and merged: a million
 * insertions cost a few dozen merges and no query ever sorts all.
 */

/** Slots in order. A slot is a row number of the caller's columns. */
export interface Order {
  /** A slot that nothing refers to. */
  take(): number;
  /** Puts a slot in its place; its columns must be filled. */
  add(slot: number): void;
  /** Takes a slot out; its number is given again later. */
  drop(slot: number): void;
  /** All slots in order. Valid until the next change. */
  slots(): Uint32Array;
}

const WAIT_AT_LEAST = 1_024;

/** An empty sequence, ordered by `compare` over slots, which must be a strict total order. */
export function createOrder(compare: (left: number, right: number) => number): Order {
  let sorted = new Uint32Array(0);
  let fresh: number[] = [];
  const free: number[] = [];
  let next = 0;
  const gone = new Set<number>();
  const settle = (): void => {
    if (fresh.length === 0 && gone.size === 0) return;
    const added = Uint32Array.from(fresh.filter((slot) => !gone.has(slot))).sort(compare);
    sorted = merge(
      sorted.filter((slot) => !gone.has(slot)),
      added,
      compare,
    );
    for (const slot of gone) free.push(slot);
    gone.clear();
    fresh = [];
  };
  return {
    take() {
      const slot = free.pop();
      return slot ?? next++;
    },
    add(slot) {
      fresh.push(slot);
      if (fresh.length >= Math.max(WAIT_AT_LEAST, sorted.length >>> 3)) settle();
    },
    drop(slot) {
      gone.add(slot);
    },
    slots() {
      settle();
      return sorted;
    },
  };
}

function merge(
  left: Uint32Array,
  right: Uint32Array,
  compare: (left: number, right: number) => number,
): Uint32Array<ArrayBuffer> {
  const merged = new Uint32Array(left.length + right.length);
  let leftAt = 0;
  let rightAt = 0;
  for (let at = 0; at < merged.length; at++) {
    const first = left[leftAt];
    const second = right[rightAt];
    if (second === undefined || (first !== undefined && compare(first, second) <= 0)) {
      merged[at] = first as number;
      leftAt += 1;
    } else {
      merged[at] = second;
      rightAt += 1;
    }
  }
  return merged;
}
