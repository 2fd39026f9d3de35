/** The tasks that put a group into words, as data for the pool. */
import type { TaskRow } from "../control.ts";
import type { PairScores } from "../verify/pair-verifier.ts";
import type { FeatureParameters } from "../verify/text-features.ts";

/** Two texts, as stored, and the scores of their pair; NaN for a score that was not computed. */
export interface PairToExplain {
  readonly a: Uint8Array;
  readonly b: Uint8Array;
  readonly jaccard: number;
  readonly fuzzy: number;
}

/** Pairs and the parameters they were scored with. */
export interface ExplainInput {
  readonly pairs: readonly PairToExplain[];
  /** Words in a phrase. */
  readonly ngramSize: number;
  /** UTF-16 units of a normalised text that the score looked at. */
  readonly sampleUnits: number;
}

/** Texts as stored → share of ordinary characters of each, 0 to 1. */
export const textQualities: TaskRow<readonly Uint8Array[], number[]> = {
  name: "text-qualities",
  file: new URL("./qualities.ts", import.meta.url),
};

/** Pairs → why they match, in words. */
export const explainPairs: TaskRow<ExplainInput, string[][]> = {
  name: "explain-pairs",
  file: new URL("./explain-pairs.ts", import.meta.url),
};

/** The scores of a pair that no weight has left out. */
export type FullScores = Omit<PairScores, "confidence">;

/** Pairs of texts, as stored. */
export interface ScorePairsInput {
  readonly pairs: readonly (readonly [Uint8Array, Uint8Array])[];
  readonly parameters: FeatureParameters;
  /** Whether the reasons and tokens are wanted, too. */
  readonly explained: boolean;
}

/** Tokens of one category of two texts. */
export interface TokenDifference {
  readonly category: string;
  readonly shared: readonly string[];
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
  /** More tokens than the lists hold. */
  readonly shortened: boolean;
}

/** A pair with all its scores. */
export interface ScoredPair {
  readonly scores: FullScores;
  /** Why the texts match and where they differ; calls the texts first and second. */
  readonly reasons?: readonly string[];
  /** The same for the texts in the other order. */
  readonly reversedReasons?: readonly string[];
  readonly tokens?: readonly TokenDifference[];
}

/** Pairs → all their scores, whatever the threshold. */
export const scorePairs: TaskRow<ScorePairsInput, ScoredPair[]> = {
  name: "score-pairs",
  file: new URL("./score-pairs.ts", import.meta.url),
};
