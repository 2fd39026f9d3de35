/**
 * Runs of so many classes that comparing all of them would take minutes: templates, and texts of
 * little of their own. Their pairs are met in other bands, where what is rare in a text decides;
 * besides, each class is compared with the classes that follow it in the first crowded run it is
 * in, so that texts that agree everywhere still meet.
 */
import { equalBytes, leastEqual, sketchStride } from "../sketch/estimate.ts";
import type { Columns } from "./columns.ts";
import type { CrowdedKeys } from "./run-comparer.ts";

/** Classes of a run that are compared in full at most. */
export const CROWDED = 8_192;
/** Following classes that each member of a crowded run is compared with. */
const FOLLOWING = 128;

/** Compares the members of a crowded run, ascending, with those that follow in a circle. */
export function compareFollowing(
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
  const own = run.members.filter(isFirst);
  // In a run of few, the circle must not lead back to a pair from its other end.
  const following = Math.min(FOLLOWING, Math.floor((own.length - 1) / 2));
  for (const [row, member] of own.entries()) {
    for (let step = 1; step <= following; step += 1) {
      const other = own[(row + step) % own.length] ?? 0;
      if (meetsElsewhere(member, other)) continue;
      const equal = equalBytes(sketches, member * stride, other * stride, sketchSize);
      if (equal >= least) calls.found(Math.min(member, other), Math.max(member, other), equal);
    }
    calls.rowDone(following);
  }
}
