/**
 * What the verification of a pair needs of one text. Each feature is made when it is first read, so
 * that a text whose pairs all fail early never pays for the dear ones.
 */
import { hashTokens } from "../score/discriminative.ts";
import type { HashedTokens } from "../score/discriminative.ts";
import { wordSorted } from "../score/fuzzy.ts";
import { tokensOf } from "../score/tokens.ts";
import { sampleOf } from "../text/normalise.ts";
import { shingleSet } from "../text/shingles.ts";

/** The parameters that features depend on; changing one makes every verdict useless. */
export interface FeatureParameters {
  /** Words of a shingle. */
  readonly ngramSize: number;
  /** UTF-16 units of the normalised text behind the tokens and the fuzzy ratio. */
  readonly fuzzySampleSize: number;
}

/** The features of one text. */
export interface TextFeatures {
  /** Distinct hashed shingles, ascending. */
  readonly shingles: Uint32Array;
  /** Hashed discriminative tokens of the sample. */
  readonly tokens: HashedTokens;
  /** The words of the sample in order, joined by a space. */
  readonly sortedSample: string;
}

/** Features of a normalised text; the text is dropped once all are made. */
export function createTextFeatures(
  normalised: string,
  { ngramSize, fuzzySampleSize }: FeatureParameters,
): TextFeatures {
  let shingles: Uint32Array | undefined;
  let tokens: HashedTokens | undefined;
  let sortedSample: string | undefined;
  const sample = sampleOf(normalised, fuzzySampleSize);
  let whole: string | undefined = normalised;
  return {
    get shingles() {
      shingles ??= shingleSet(whole ?? "", ngramSize);
      whole = undefined;
      return shingles;
    },
    get tokens() {
      return (tokens ??= hashTokens(tokensOf(sample)));
    },
    get sortedSample() {
      return (sortedSample ??= wordSorted(sample));
    },
  };
}
