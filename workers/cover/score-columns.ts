/** The scores of many pairs as columns, so that they cross threads without being copied. */
import type { PairScores } from "../verify/pair-verifier.ts";

/** Scores by position; NaN as in PairScores. */
export interface ScoreColumns {
  readonly jaccard: Float64Array<ArrayBuffer>;
  readonly discriminative: Float64Array<ArrayBuffer>;
  readonly fuzzy: Float64Array<ArrayBuffer>;
  readonly confidence: Float64Array<ArrayBuffer>;
}

/** The scores at a position. */
export function scoresAt(columns: ScoreColumns, at: number): PairScores {
  return {
    jaccard: columns.jaccard[at] ?? Number.NaN,
    discriminative: columns.discriminative[at] ?? Number.NaN,
    fuzzy: columns.fuzzy[at] ?? Number.NaN,
    confidence: columns.confidence[at] ?? Number.NaN,
  };
}

/** Collects scores. Who pushes bounds it. */
export function createScoreColumns(): { push(scores: PairScores): void; take(): ScoreColumns } {
  const rows: PairScores[] = [];
  const column = (name: keyof PairScores): Float64Array<ArrayBuffer> =>
    Float64Array.from(rows, (row) => row[name]);
  return {
    push: (scores) => void rows.push(scores),
    take: () => ({
      jaccard: column("jaccard"),
      discriminative: column("discriminative"),
      fuzzy: column("fuzzy"),
      confidence: column("confidence"),
    }),
  };
}
