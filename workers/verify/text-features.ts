/**
 * What the verification of a pair needs of one text. The dear features are made when they are first
 * read, so that a text whose pairs all fail early never pays for them.
 */
import { hashTokens } from "../score/discriminative.ts";
import type { HashedTokens } from "../score/discriminative.ts";
import { wordSorted } from "../score/fuzzy.ts";
import type { SortedSample } from "../score/fuzzy.ts";
import { tokensOf } from "../score/tokens.ts";
import { readText } from "../text/read-text.ts";
import type { TextInput } from "../text/read-text.ts";
import { decodeSample, sampleBytes } from "../text/sample.ts";
import { shinglesOf } from "../text/shingles.ts";

/** The parameters that features depend on; changing one makes every verdict useless. */
export interface FeatureParameters {
  /** Words of a shingle. */
  readonly ngramSize: number;
  /** UTF-16 units of the normalised text behind the tokens and the fuzzy ratio. */
  readonly fuzzySampleSize: number;
}

/** Raised whenever the same two texts and parameters give other scores than before. */
export const FEATURES_VERSION = 4;

/** The features of one text. */
export interface TextFeatures {
  /** Distinct hashed shingles, ascending. */
  readonly shingles: Uint32Array;
  /** Hashed discriminative tokens of the sample. */
  readonly tokens: HashedTokens;
  readonly sortedSample: SortedSample;
}

/** Features of a text. Its shingles are made at once: every verification begins with them. */
export function createTextFeatures(
  text: TextInput,
  { ngramSize, fuzzySampleSize }: FeatureParameters,
): TextFeatures {
  const reading = readText(text, ngramSize);
  const sample = sampleBytes(reading, fuzzySampleSize);
  const shingles = shinglesOf(reading);
  let tokens: HashedTokens | undefined;
  let sortedSample: SortedSample | undefined;
  return {
    shingles,
    get tokens() {
      return (tokens ??= hashTokens(tokensOf(decodeSample(sample))));
    },
    get sortedSample() {
      return (sortedSample ??= wordSorted(decodeSample(sample)));
    },
  };
}
