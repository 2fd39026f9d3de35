/**
 * Compares the members of a run, the classes that agree in one band, pair by pair: drops pairs that
 * met in an earlier band, then those whose sketches are not alike enough.
 */
import { equalBytes, leastEqual, sketchStride } from "../sketch/estimate.ts";
import { kernel } from "../wasm/kernel.ts";
import type { Columns } from "./columns.ts";

/** Compares runs of one set of columns. */
export interface RunComparer {
  /**
   * Compares the members from row `from` to `to` with all members behind each. `found` gets every
   * pair whose estimate may belong to the floor, with its equal sketch bytes: what it gets depends
   * on the texts and the parameters alone. `rowDone` is called after each row with its comparisons.
   */
  compare(
    band: number,
    members: Uint32Array,
    rows: { readonly from: number; readonly to: number },
    calls: {
      readonly found: (low: number, high: number, equal: number) => void;
      readonly rowDone: (steps: number) => void;
    },
  ): void;
}

/** Sketches that the module holds at a time, the one that is compared included. */
const HELD_BYTES = 3 * 2 ** 20;
/** The same in number: their gathered keys fill the module's room for them, 1 MiB. */
const MAX_HELD = 65_536;
/** Runs up to this length are compared here. */
const FEW = 6;
/** The keys of this many bands are gathered for a run: most pairs that met before met there. */
const GATHERED = 4;

/** Per band the keys of runs that are too long to be compared in full; absent where none is. */
export type CrowdedKeys = readonly (ReadonlySet<number> | undefined)[];

/**
 * A comparer; `floor` is the least Jaccard similarity of a duplicate. Agreement in a crowded key is
 * no meeting: such a pair is met in the first band in which its run is not crowded.
 */
export function createRunComparer(
  columns: Columns,
  floor: number,
  crowded: CrowdedKeys,
): RunComparer {
  const { numBands, sketchSize } = columns;
  const bands = new Uint32Array(columns.bands);
  const sketches = new Uint8Array(columns.sketches);
  const bytes = sketchStride(sketchSize);
  // The module compares 16 bytes at a time; what is added is equal in all.
  const stride = Math.ceil(bytes / 16) * 16;
  const padding = stride - sketchSize;
  const least = leastEqual(floor, sketchSize) + padding;
  const held = Math.min(MAX_HELD, Math.floor(HELD_BYTES / stride)) - 1;

  function metIn(some: readonly number[], a: number, b: number): boolean {
    const atA = a * numBands;
    const atB = b * numBands;
    for (const band of some) {
      const key = bands[atA + band] ?? 0;
      if (key === bands[atB + band] && !crowded[band]?.has(key)) return true;
    }
    return false;
  }

  /** Most runs have two members: these are not worth a call of the module. */
  function compareFew(
    band: number,
    members: Uint32Array,
    rows: { readonly from: number; readonly to: number },
    found: (low: number, high: number, equal: number) => void,
  ): void {
    const earlier = Array.from({ length: band }, (_, i) => i);
    for (let row = rows.from; row < rows.to; row += 1)
      for (let i = row + 1; i < members.length; i += 1) {
        const a = members[row] ?? 0;
        const b = members[i] ?? 0;
        if (metIn(earlier, a, b)) continue;
        const equal = equalBytes(sketches, a * bytes, b * bytes, sketchSize);
        if (equal + padding >= least) found(a, b, equal);
      }
  }

  return {
    compare(band, members, rows, { found, rowDone }) {
      if (members.length <= FEW) {
        compareFew(band, members, rows, found);
        rowDone(members.length ** 2);
        return;
      }
      const { functions, bytes: memory, words, units, at } = kernel();
      // The module knows nothing of crowded keys.
      const earlier = Array.from({ length: band }, (_, i) => i);
      const gathered = earlier.filter((i) => !crowded[i]).slice(0, GATHERED);
      const others = earlier.filter((i) => !gathered.includes(i));
      const reach = held + 1;
      const keys = at.otherShingles >> 2;
      const put = (member: number, place: number): void => {
        const start = at.text + place * stride;
        memory.set(sketches.subarray(member * bytes, (member + 1) * bytes), start);
        memory.fill(0, start + bytes, start + stride);
        for (const [i, earlierBand] of gathered.entries())
          words[keys + i * reach + place] = bands[member * numBands + earlierBand] ?? 0;
      };
      const list = at.wordHashes >> 2;
      const answers = at.shingles >> 1;
      for (let first = rows.from + 1; first < members.length; first += held) {
        const end = Math.min(members.length, first + held);
        for (let i = first; i < end; i += 1) put(members[i] ?? 0, i - first + 1);
        for (let row = rows.from; row < Math.min(rows.to, end - 1); row += 1) {
          const one = members[row] ?? 0;
          put(one, 0);
          const start = Math.max(first, row + 1) - first + 1;
          let count = functions.listUnmet(start, end - first + 1, gathered.length, reach);
          if (others.length > 0) {
            const listed = count;
            count = 0;
            for (let i = 0; i < listed; i += 1) {
              const place = words[list + i] ?? 0;
              if (metIn(others, one, members[first + place - 1] ?? 0)) continue;
              words[list + count] = place;
              count += 1;
            }
          }
          if (count > 0) {
            functions.compareSketches(count, stride);
            for (let i = 0; i < count; i += 1) {
              const equal = units[answers + i] ?? 0;
              if (equal < least) continue;
              const other = members[first + (words[list + i] ?? 0) - 1] ?? 0;
              found(one, other, equal - padding);
            }
          }
          rowDone(end - Math.max(first, row + 1));
        }
      }
    },
  };
}
