/** Whether two classes that meet in a band may still be duplicates, by their sketches. */
import { countEqual, leastEqual, sketchStride } from "../sketch/estimate.ts";
import type { Columns } from "./columns.ts";

/** The tests over one set of columns. */
export interface PairFilter {
  /** Whether the classes agree in a band before this one, where the pair was met already. */
  metBefore(band: number, a: number, b: number): boolean;
  /**
   * Equal sketch bytes of a pair whose Jaccard similarity may reach the floor, or -1. Depends on
   * the two texts and the parameters alone.
   */
  test(a: number, b: number): number;
}

/** Compiles the tests for one run; `floor` is the least Jaccard similarity of a duplicate. */
export function createPairFilter(columns: Columns, floor: number): PairFilter {
  const { numBands, sketchSize } = columns;
  const bands = new Uint32Array(columns.bands);
  const sketches = new Uint32Array(columns.sketches);
  const words = sketchStride(sketchSize) / 4;
  const padding = words * 4 - sketchSize;
  const least = leastEqual(floor, sketchSize);
  return {
    metBefore(band, a, b) {
      const atA = a * numBands;
      const atB = b * numBands;
      for (let i = 0; i < band; i += 1) if (bands[atA + i] === bands[atB + i]) return true;
      return false;
    },
    test(a, b) {
      const equal = countEqual(sketches, a * words, b * words, words, padding);
      return equal >= least ? equal : -1;
    },
  };
}
