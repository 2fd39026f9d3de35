/** What is known about pairs of texts before they are verified. */
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import { SAME_TEXT } from "../../../workers/verify/pair-verifier.ts";

/** The scores of pairs of texts, by the numbers that the run gives them. */
export interface Verdicts {
  /** Whether there are any but those of equal texts. */
  readonly any: boolean;
  /** The scores of a pair, when they are known. */
  of(a: number, b: number): PairScores | undefined;
  /** Keeps the scores of a pair that was verified. */
  note(a: number, b: number, scores: PairScores): void;
}

/** Verdicts that are not kept: only equal texts are known. */
export function createNoVerdicts(): Verdicts {
  return {
    any: false,
    of: (a, b) => (a === b ? SAME_TEXT : undefined),
    note: () => undefined,
  };
}
