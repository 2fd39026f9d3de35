/** The tasks that put a group into words, as data for the pool. */
import type { TaskRow } from "../control.ts";

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
