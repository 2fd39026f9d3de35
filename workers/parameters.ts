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
  /** UTF-16 units of the sample behind the fuzzy ratio and the tokens. */
  readonly fuzzySampleSize: number;
}

/**
 * Raised whenever the same text and parameters give another signature than before: sketch, hash,
 * tokens or layout.
 */
export const SIGNATURE_VERSION = 2;
