/**
 * The confidence of a pair from its three similarities, and the bounds that let a pair be dropped
 * early.
 */

/**
 * The settings that the score depends on; changing one never changes a signature. Contract: dedup
 * configuration.
 */
export interface ScoreParameters {
  /** The least confidence of a duplicate pair, 0 to 1. */
  readonly similarityThreshold: number;
  /**
   * Weight of the Jaccard similarity; together with the fuzzy weight 100, though any two numbers ≥
   * 0 will do here.
   */
  readonly confidenceWeightJaccard: number;
  readonly confidenceWeightFuzzy: number;
  /** How much different dates, amounts and numbers lower the score, 0 to 100 per cent. */
  readonly discriminativePenaltyStrength: number;
  /** How many UTF-16 units of the normalised text the fuzzy ratio and the tokens are taken from. */
  readonly fuzzySampleSize: number;
}

/**
 * Keeps the bounds on the safe side of floating-point rounding, which is a thousand times smaller.
 */
const MARGIN = 1e-12;

/** The weighted mean of both similarities, 0 to 1; 0 when both weights are 0. */
export function baseScore(jaccard: number, fuzzy: number, parameters: ScoreParameters): number {
  const { confidenceWeightJaccard: onJaccard, confidenceWeightFuzzy: onFuzzy } = parameters;
  const total = onJaccard + onFuzzy;
  return total === 0 ? 0 : (onJaccard * jaccard + onFuzzy * fuzzy) / total;
}

/**
 * The confidence of a pair, 0 to 1, never rounded: the base score less the discriminative penalty.
 */
export function confidence(
  jaccard: number,
  fuzzy: number,
  discriminative: number,
  parameters: ScoreParameters,
): number {
  return baseScore(jaccard, fuzzy, parameters) * kept(discriminative, parameters);
}

/** Keeps a floor below similarities that reach it but for rounding. */
const ROUNDING = 1e-9;

/** `jaccardFloor` to compare computed similarities with: rounding never drops a pair at the floor. */
export function safeJaccardFloor(parameters: ScoreParameters): number {
  return jaccardFloor(parameters) - ROUNDING;
}

/**
 * The minimum Jaccard similarity with which a pair can reach the threshold if all else is perfect:
 * (T - wF) / wJ with the weights as fractions, at least 0. Above 1 when no pair can.
 */
export function jaccardFloor(parameters: ScoreParameters): number {
  return leastFor(
    parameters.similarityThreshold,
    1,
    parameters.confidenceWeightJaccard,
    parameters.confidenceWeightFuzzy,
  );
}

/**
 * The least fuzzy ratio with which a pair of this Jaccard similarity and D could still reach the
 * threshold: 0 when any will do, above 1 when none will. No pair at or above the threshold has a
 * lower one.
 */
export function fuzzyNeeded(
  jaccard: number,
  discriminative: number,
  parameters: ScoreParameters,
): number {
  const { similarityThreshold, confidenceWeightFuzzy, confidenceWeightJaccard } = parameters;
  if (similarityThreshold <= 0) return 0;
  const base = similarityThreshold / kept(discriminative, parameters);
  return leastFor(base, jaccard, confidenceWeightFuzzy, confidenceWeightJaccard);
}

/** The least value of one component that brings the base score to `base`, given the other one. */
function leastFor(base: number, other: number, weight: number, otherWeight: number): number {
  const total = weight + otherWeight;
  if (total === 0) return base > 0 ? Number.POSITIVE_INFINITY : 0;
  if (weight === 0) return base > other + MARGIN ? Number.POSITIVE_INFINITY : 0;
  return Math.max(0, (base * total - otherWeight * other) / weight - MARGIN * (1 + total / weight));
}

/** The share of the base score that the penalty leaves, 0 to 1. */
function kept(discriminative: number, parameters: ScoreParameters): number {
  return 1 - (parameters.discriminativePenaltyStrength / 100) * (1 - discriminative);
}
