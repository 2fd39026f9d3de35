/**
 * Levenshtein distance on UTF-16 code units, by WebAssembly (`workers/wasm/assembly/distance.ts`).
 */
import { kernel } from "../wasm/kernel.ts";

/** Longer texts are refused. */
export const MAX_DISTANCE_UNITS = 131_072;

/** What may be known of a distance before it is computed. */
export interface DistanceBounds {
  /** A greater distance is not wanted; default none is too great. */
  readonly limit?: number;
  /** An upper bound; the nearer it is, the less is computed. */
  readonly upper?: (rows: number, columns: number) => number;
}

/** Where the band starts when nothing is known. */
const FIRST_BAND = 64;

/**
 * The least number of insertions, deletions and substitutions of single code units that turn `a`
 * into `b`. Exact when it is at most `limit`; else -1. Time grows with (shorter length / 64) ×
 * min(limit, upper, 4 × distance). `upper` is given the lengths of the shorter and of the longer
 * text, which then lie at ROWS and COLUMNS. Throws a RangeError above MAX_DISTANCE_UNITS.
 */
export function editDistance(
  a: Uint16Array,
  b: Uint16Array,
  { limit = Number.POSITIVE_INFINITY, upper }: DistanceBounds = {},
): number {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (long.length > MAX_DISTANCE_UNITS)
    throw new RangeError(`a text of ${long.length} units exceeds ${MAX_DISTANCE_UNITS}`);
  const { functions, units, at } = kernel();
  units.set(short, at.rows >> 1);
  units.set(long, at.columns >> 1);
  const most = Math.min(Math.floor(limit), long.length);
  const first = upper ? upper(short.length, long.length) : FIRST_BAND + long.length - short.length;
  return functions.distance(short.length, long.length, most, first);
}
