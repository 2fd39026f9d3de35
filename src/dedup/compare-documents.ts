/** Scores one pair of documents completely and says what the confidence is made of. */
import { createHash } from "node:crypto";
import type { FullScores, TokenDifference } from "../../workers/describe/tasks.ts";
import { confidence } from "../../workers/score/confidence.ts";
import { WEIGHTS } from "../../workers/score/token-sets.ts";
import type { Category } from "../../workers/score/token-sets.ts";
import type { Pool } from "../kernel/pool/types.ts";
import type { AnalysisParameters } from "./analysis/parameters.ts";
import type { Corpus } from "./corpus.ts";
import { createPairScorer } from "./groups/pair-scorer.ts";
import type { TextToScore } from "./groups/pair-scorer.ts";

/** The discriminative tokens of one category. */
export interface WeightedTokens extends TokenDifference {
  /** How much the category counts in the discriminative score. */
  readonly weight: number;
}

/** A pair as it was scored. */
export interface DocumentComparison extends FullScores {
  readonly confidence: number;
  /** Whether the confidence reaches the threshold. */
  readonly duplicates: boolean;
  /** The normalised texts are equal. */
  readonly sameText: boolean;
  /** The categories of which a text has tokens. */
  readonly tokens: readonly WeightedTokens[];
}

/** Two documents by number, and how they are scored. */
export interface CompareDocumentsInput {
  readonly a: number;
  readonly b: number;
  readonly corpus: Pick<Corpus, "text" | "textHash">;
  readonly parameters: AnalysisParameters;
  readonly pool: Pool;
  readonly signal: AbortSignal;
}

/** All scores, also of a pair below the threshold. Rejects with the signal's reason. */
export async function compareDocuments(input: CompareDocumentsInput): Promise<DocumentComparison> {
  const { a, b, corpus, parameters, pool, signal } = input;
  const { scores, sameText, tokens } = await createPairScorer(pool)(
    textToScore(corpus, a),
    textToScore(corpus, b),
    { parameters, signal },
  );
  const total = confidence(scores.jaccard, scores.fuzzy, scores.discriminative, parameters);
  return {
    ...scores,
    confidence: total,
    duplicates: total >= parameters.similarityThreshold,
    sameText,
    tokens: tokens.map((each) => ({ ...each, weight: WEIGHTS[each.category as Category] })),
  };
}

/** A text that is too short to be compared has no identity in the corpus. */
function textToScore(corpus: CompareDocumentsInput["corpus"], number: number): TextToScore {
  const bytes = corpus.text(number) ?? new Uint8Array();
  return {
    hash: corpus.textHash(number) ?? createHash("sha256").update(bytes).digest(),
    bytes: () => bytes,
  };
}
