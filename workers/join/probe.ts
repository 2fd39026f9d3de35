/**
 * Finds the pairs of a few new classes with all classes, without sorting a band: the bands of each
 * class are looked up in the keys of the new ones.
 */
import { equalBytes, leastEqual, sketchStride } from "../sketch/estimate.ts";
import type { Columns } from "./columns.ts";
import { CROWDED } from "./crowded.ts";

/** Bits of the filter of a band: 16 KiB each, 1 MiB for 64 bands. */
const FILTER_BITS = 2 ** 17;
/** A multiplier that spreads the keys of a band over its slots. */
const SPREAD = 0x9e3779b1;

/**
 * Calls `found` with every pair that has a new class and that a full join would find, each once.
 * False when a run is crowded or `found` wants no more: then only a full join is right.
 * `classDone` is called after each class with its comparisons.
 */
export function probe(
  columns: Columns,
  floor: number,
  fresh: Uint32Array,
  calls: {
    readonly found: (low: number, high: number, equal: number) => boolean;
    readonly classDone: (steps: number) => void;
  },
): boolean {
  const { numBands, sketchSize } = columns;
  const bands = new Uint32Array(columns.bands);
  const sketches = new Uint8Array(columns.sketches);
  const signed = new Uint8Array(columns.signed);
  const stride = sketchStride(sketchSize);
  const least = leastEqual(floor, sketchSize);
  const keys = createKeys(bands, numBands, fresh);
  const isFresh = new Uint8Array(columns.classes);
  for (const one of fresh) isFresh[one] = 1;

  const metBefore = (a: number, b: number, band: number): boolean => {
    for (let earlier = 0; earlier < band; earlier += 1)
      if (bands[a * numBands + earlier] === bands[b * numBands + earlier]) return true;
    return false;
  };
  for (let one = 0; one < columns.classes; one += 1) {
    if (signed[one] === 0) continue;
    let steps = 1;
    for (let band = 0; band < numBands; band += 1) {
      const slot = keys.find(band, bands[one * numBands + band] ?? 0);
      if (slot < 0) continue;
      if (keys.count(slot) > CROWDED) return false;
      for (let at = keys.first(slot); at >= 0; at = keys.next(band, at)) {
        const other = fresh[at] ?? 0;
        steps += 1;
        // A pair of two new classes is met from both.
        if (other === one || (isFresh[one] === 1 && other < one)) continue;
        if (metBefore(one, other, band)) continue;
        const equal = equalBytes(sketches, one * stride, other * stride, sketchSize);
        if (equal < least) continue;
        if (!calls.found(Math.min(one, other), Math.max(one, other), equal)) return false;
      }
    }
    calls.classDone(steps);
  }
  return true;
}

/** The keys of the new classes by band. */
interface Keys {
  /** The slot of a key in a band, or -1. */
  find(band: number, key: number): number;
  /** How often a slot was counted, this time included. */
  count(slot: number): number;
  /** Positions in the list of new classes that have the key; -1 behind the last. */
  first(slot: number): number;
  next(band: number, at: number): number;
}

function createKeys(bands: Uint32Array, numBands: number, fresh: Uint32Array): Keys {
  const slots = 2 ** Math.ceil(Math.log2(Math.max(8, fresh.length * 2)));
  const shift = 32 - Math.log2(slots);
  const filter = new Uint32Array((numBands * FILTER_BITS) / 32);
  const keyOf = new Uint32Array(numBands * slots);
  const heads = new Int32Array(numBands * slots).fill(-1);
  const counts = new Uint32Array(numBands * slots);
  const following = new Int32Array(numBands * fresh.length).fill(-1);

  /** The slot that has the key, or the free one that it would take. */
  const slotOf = (band: number, key: number): number => {
    let slot = Math.imul(key, SPREAD) >>> shift;
    while ((heads[band * slots + slot] ?? -1) >= 0 && keyOf[band * slots + slot] !== key)
      slot = (slot + 1) & (slots - 1);
    return band * slots + slot;
  };
  const bitOf = (band: number, key: number): number => band * FILTER_BITS + (key % FILTER_BITS);
  for (const [at, one] of fresh.entries())
    for (let band = 0; band < numBands; band += 1) {
      const key = bands[one * numBands + band] ?? 0;
      const slot = slotOf(band, key);
      following[band * fresh.length + at] = heads[slot] ?? -1;
      keyOf[slot] = key;
      heads[slot] = at;
      const bit = bitOf(band, key);
      filter[bit >>> 5] = (filter[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
  return {
    find(band, key) {
      const bit = bitOf(band, key);
      if (((filter[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return -1;
      const slot = slotOf(band, key);
      return (heads[slot] ?? -1) < 0 ? -1 : slot;
    },
    count: (slot) => (counts[slot] = (counts[slot] ?? 0) + 1),
    first: (slot) => heads[slot] ?? -1,
    next: (band, at) => following[band * fresh.length + at] ?? -1,
  };
}
