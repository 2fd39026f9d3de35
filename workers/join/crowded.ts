/**
 * Runs of so many classes that comparing all of them would take minutes: templates, and texts of
 * little of their own. Their pairs are met in other bands, where what is rare in a text decides;
 * besides, each class is compared with some representatives of the first crowded run it is in.
 * Where nearly all of a run are alike, these are centres of groups with nearly all of it.
 */
import { equalBytes, leastEqual, sketchStride } from "../sketch/estimate.ts";
import type { Columns } from "./columns.ts";
import type { CrowdedKeys } from "./run-comparer.ts";

/** Classes of a run that are compared in full at most. */
export const CROWDED = 8_192;
/** Representatives of a crowded run. */
const REPRESENTATIVES = 128;

/**
 * Compares the members of a crowded run, ascending, with the first of them: classes are in the
 * order of their hashes, so these are arbitrary ones. A member that was in a crowded run of an
 * earlier band is only a representative here, hence no pair is found twice.
 */
export function compareRepresentatives(
  columns: Columns,
  floor: number,
  crowded: CrowdedKeys,
  run: { readonly band: number; readonly members: Uint32Array },
  calls: { found(low: number, high: number, equal: number): void; rowDone(steps: number): void },
): void {
  const { numBands, sketchSize } = columns;
  const bands = new Uint32Array(columns.bands);
  const sketches = new Uint8Array(columns.sketches);
  const stride = sketchStride(sketchSize);
  const least = leastEqual(floor, sketchSize);
  const keyOf = (member: number, band: number): number => bands[member * numBands + band] ?? 0;
  const isFirst = (member: number): boolean => {
    for (let band = 0; band < run.band; band += 1)
      if (crowded[band]?.has(keyOf(member, band))) return false;
    return true;
  };
  const meetsElsewhere = (a: number, b: number): boolean => {
    for (let band = 0; band < numBands; band += 1) {
      const key = keyOf(a, band);
      if (key === keyOf(b, band) && !crowded[band]?.has(key)) return true;
    }
    return false;
  };
  const representatives = run.members.subarray(0, REPRESENTATIVES);
  const areFirst = Array.from(representatives, isFirst);
  for (const [row, member] of run.members.entries()) {
    if (row < REPRESENTATIVES ? !areFirst[row] : !isFirst(member)) {
      calls.rowDone(1);
      continue;
    }
    for (const [place, other] of representatives.entries()) {
      // Two representatives that are both here for the first time: once, from the later one.
      if (place === row || (place > row && areFirst[place])) continue;
      if (meetsElsewhere(member, other)) continue;
      const equal = equalBytes(sketches, member * stride, other * stride, sketchSize);
      if (equal >= least) calls.found(Math.min(member, other), Math.max(member, other), equal);
    }
    calls.rowDone(representatives.length);
  }
}
