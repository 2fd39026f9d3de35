/**
 * Verifies one pair of texts, dearest test last: exact Jaccard similarity, agreement of the
 * tokens, fuzzy ratio limited to what is still needed. A pair that reaches the threshold has all
 * its scores, exact; of one that does not, only those that were needed to say so are known.
 */
import { confidence, fuzzyNeeded, safeJaccardFloor } from "../score/confidence.ts";
import type { ScoreParameters } from "../score/confidence.ts";
import { discriminativeOfHashes } from "../score/discriminative.ts";
import { fuzzyRatio } from "../score/fuzzy.ts";
import { jaccardAtLeast } from "../score/jaccard.ts";
import type { TextFeatures } from "./text-features.ts";

/** The scores of a pair, 0 to 1, never rounded; NaN where one was not computed. */
export interface PairScores {
  readonly jaccard: number;
  readonly discriminative: number;
  readonly fuzzy: number;
  /** NaN exactly when the pair does not reach the threshold. */
  readonly confidence: number;
}

/** The scores of two documents with one text. */
export const SAME_TEXT: PairScores = { jaccard: 1, discriminative: 1, fuzzy: 1, confidence: 1 };

/**
 * The scores of a pair as far as they decide whether it reaches the threshold. Symmetric. A fuzzy
 * weight of 0 leaves F out, a penalty of 0 leaves D out: both stay NaN, also of a pair that passes.
 */
export function verifyPair(
  a: TextFeatures,
  b: TextFeatures,
  parameters: ScoreParameters,
): PairScores {
  const scores = { jaccard: Number.NaN, discriminative: Number.NaN, fuzzy: Number.NaN };
  const missed = (): PairScores => ({ ...scores, confidence: Number.NaN });
  scores.jaccard = jaccardAtLeast(a.shingles, b.shingles, safeJaccardFloor(parameters));
  if (Number.isNaN(scores.jaccard)) return missed();
  if (parameters.discriminativePenaltyStrength > 0) scores.discriminative = discriminativeOf(a, b);
  const needed = remainingFuzzy(scores, parameters);
  if (needed > 1) return missed();
  if (parameters.confidenceWeightFuzzy > 0)
    scores.fuzzy = fuzzyRatio(a.sortedSample, b.sortedSample, needed);
  const total = confidenceOf(scores, parameters);
  if (total >= parameters.similarityThreshold) return { ...scores, confidence: total };
  // A ratio below the one needed may stand for a lower one.
  if (scores.fuzzy < needed) scores.fuzzy = Number.NaN;
  return missed();
}

/** The confidence of scores that are all known as far as the parameters need them. */
export function confidenceOf(
  { jaccard, discriminative, fuzzy }: Omit<PairScores, "confidence">,
  parameters: ScoreParameters,
): number {
  return confidence(jaccard, knownOr(0, fuzzy), knownOr(1, discriminative), parameters);
}

/** The fuzzy ratio that the other scores leave to be reached; a D that was not computed counts as 1. */
export function remainingFuzzy(
  { jaccard, discriminative }: Pick<PairScores, "jaccard" | "discriminative">,
  parameters: ScoreParameters,
): number {
  return fuzzyNeeded(jaccard, knownOr(1, discriminative), parameters);
}

function knownOr(otherwise: number, score: number): number {
  return Number.isNaN(score) ? otherwise : score;
}

function discriminativeOf(a: TextFeatures, b: TextFeatures): number {
  const [inA, inB] = [a.tokens, b.tokens];
  return discriminativeOfHashes(inA.words, inA.counts, 0, inB.words, inB.counts, 0);
}
