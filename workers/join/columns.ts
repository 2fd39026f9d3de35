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
  /** u8: 1 for a class that has a signature; the others are in no pair. */
  readonly signed: SharedArrayBuffer;
}
