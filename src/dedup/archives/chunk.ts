/** A piece of a source while it is read. */

/** Bytes with the share of the source that they end at. */
export interface Chunk {
  readonly bytes: Uint8Array;
  readonly fraction: number;
}
