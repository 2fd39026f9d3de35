/** Sorting the classes of one band by their key. */

const BITS = 11;
const BUCKETS = 1 << BITS;
const PASSES = 3;

/** Classes and their keys, ascending by key, then by class. */
export interface SortedBand {
  readonly keys: Uint32Array;
  readonly classes: Uint32Array;
}

/**
 * A stable radix sort of 32-bit keys with the class each belongs to; overwrites its input. 16 bytes
 * of scratch a class.
 */
export function sortByKey(keys: Uint32Array, classes: Uint32Array): SortedBand {
  let from: SortedBand = { keys, classes };
  let to: SortedBand = {
    keys: new Uint32Array(keys.length),
    classes: new Uint32Array(keys.length),
  };
  for (let pass = 0; pass < PASSES; pass += 1) {
    scatter(from, to, pass * BITS);
    [from, to] = [to, from];
  }
  return from;
}

function scatter(from: SortedBand, to: SortedBand, shift: number): void {
  const starts = new Uint32Array(BUCKETS + 1);
  for (let i = 0; i < from.keys.length; i += 1) {
    const bucket = ((from.keys[i] ?? 0) >>> shift) & (BUCKETS - 1);
    starts[bucket + 1] = (starts[bucket + 1] ?? 0) + 1;
  }
  for (let bucket = 0; bucket < BUCKETS; bucket += 1)
    starts[bucket + 1] = (starts[bucket + 1] ?? 0) + (starts[bucket] ?? 0);
  for (let i = 0; i < from.keys.length; i += 1) {
    const key = from.keys[i] ?? 0;
    const bucket = (key >>> shift) & (BUCKETS - 1);
    const at = starts[bucket] ?? 0;
    starts[bucket] = at + 1;
    to.keys[at] = key;
    to.classes[at] = from.classes[i] ?? 0;
  }
}
