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
  let size = 0;
  let columns = columnsOf(() => new Float64Array(64));
  const resize = (length: number): ScoreColumns =>
    columnsOf((name) => {
      const values = new Float64Array(length);
      values.set(columns[name].subarray(0, size));
      return values;
    });
  return {
    push({ jaccard, discriminative, fuzzy, confidence }) {
      if (size === columns.jaccard.length) columns = resize(2 * size);
      columns.jaccard[size] = jaccard;
      columns.discriminative[size] = discriminative;
      columns.fuzzy[size] = fuzzy;
      columns.confidence[size] = confidence;
      size += 1;
    },
    take: () => resize(size),
  };
}

function columnsOf(make: (name: keyof ScoreColumns) => Float64Array<ArrayBuffer>): ScoreColumns {
  return {
    jaccard: make("jaccard"),
    discriminative: make("discriminative"),
    fuzzy: make("fuzzy"),
    confidence: make("confidence"),
  };
}
