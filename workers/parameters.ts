/**
 * The settings that decide what a signature is; a change of one makes every stored signature
 * useless.
 */

/** What the signature of a text depends on, beside the text. */
export interface SignatureParameters {
  /** Values of a sketch. */
  readonly numPermutations: number;
  readonly numBands: number;
  /** Words of a shingle. */
  readonly ngramSize: number;
}

/**
 * Raised whenever the same text and parameters give another signature than before: sketch, hash
 * or layout.
 */
export const SIGNATURE_VERSION = 2;
