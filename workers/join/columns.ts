/**
 * The columns of an analysis that all workers read: what finding candidates needs of every class,
 * in shared memory.
 */

/** Shared columns; row = class. */
export interface Columns {
  readonly classes: number;
  readonly numBands: number;
  readonly sketchSize: number;
  /**
   * u32, `numBands` a class, so that the check for an earlier band reads one or two cache lines.
   */
  readonly bands: SharedArrayBuffer;
  /** Low bytes, `sketchStride(sketchSize)` a class. */
  readonly sketches: SharedArrayBuffer;
  /** u32: shingles of the class; 0 keeps it out of every pair. */
  readonly setSizes: SharedArrayBuffer;
  /** u32: first word of the class in `tokens`. */
  readonly tokenStarts: SharedArrayBuffer;
  /** Per class six 16-bit counts (three words), then the hashes. */
  readonly tokens: SharedArrayBuffer;
}
