/**
 * The scores of a group: the mean over its verified pairs of documents. Equal scores are counted
 * together and added up in ascending order, so that the mean depends on the pairs alone, to the
 * last digit, and not on the order or the parts in which they come.
 */
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";

/** Adds up pairs. */
export interface MeanScores {
  /** A pair of texts that stands for `times` pairs of documents. */
  add(scores: PairScores, times: number): void;
  /** NaN for a score that one of the pairs does not have, and without pairs. */
  scores(): PairScores;
  count(): number;
}

const NAMES = ["confidence", "jaccard", "fuzzy", "discriminative"] as const;

/** Of no pairs yet. */
export function createMeanScores(): MeanScores {
  let count = 0;
  const times = NAMES.map(() => new Map<number, number>());
  return {
    add(scores, pairs) {
      if (pairs === 0) return;
      count += pairs;
      for (const [at, name] of NAMES.entries())
        times[at]?.set(scores[name], (times[at].get(scores[name]) ?? 0) + pairs);
    },
    scores() {
      const [confidence = 0, jaccard = 0, fuzzy = 0, discriminative = 0] = times.map((own) =>
        meanOf(own, count),
      );
      return { confidence, jaccard, fuzzy, discriminative };
    },
    count: () => count,
  };
}

function meanOf(times: ReadonlyMap<number, number>, count: number): number {
  const [only] = times.keys();
  if (times.size === 1 && only !== undefined) return only;
  let sum = 0;
  for (const [value, pairs] of [...times].sort(([a], [b]) => a - b)) sum += value * pairs;
  return sum / count;
}
