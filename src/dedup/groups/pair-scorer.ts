/**
 * Scores any two texts on request, whether or not an analysis compared them. The scores depend on
 * the two texts and the features alone, so that weights are applied afterwards; the newest results
 * are kept.
 */
import { scorePairs } from "../../../workers/describe/tasks.ts";
import type { FullScores, TokenDifference } from "../../../workers/describe/tasks.ts";
import { SAME_TEXT } from "../../../workers/verify/pair-verifier.ts";
import type { FeatureParameters } from "../../../workers/verify/text-features.ts";
import type { Pool } from "../../kernel/pool/types.ts";

/** A text: its identity, and its bytes as stored, read only when the pair is not known. */
export interface TextToScore {
  /** SHA-256 of the normalised text. */
  readonly hash: Uint8Array;
  /** Throws when it cannot be read. */
  bytes(): Uint8Array;
}

/** The scores of a pair, with the reasons in the order in which the texts were given. */
export interface ExplainedPair {
  readonly scores: FullScores;
  readonly sameText: boolean;
  readonly reasons: readonly string[];
  readonly tokens: readonly TokenDifference[];
}

/** Scores one pair. Rejects with the signal's reason, and with `deadline` after 30 s of work. */
export type PairScorer = (
  a: TextToScore,
  b: TextToScore,
  options: { readonly parameters: FeatureParameters; readonly signal: AbortSignal },
) => Promise<ExplainedPair>;

/** Pairs kept, each at most about 90 KB, mostly 1 KB. */
const KEPT_PAIRS = 256;
const DEADLINE_MS = 30_000;

/** A pair with the text of the lower hash first. */
interface Kept {
  readonly scores: FullScores;
  readonly reasons: readonly string[];
  readonly reversedReasons: readonly string[];
  readonly tokens: readonly TokenDifference[];
}

/** A scorer with an empty cache. */
export function createPairScorer(pool: Pick<Pool, "run">): PairScorer {
  const kept = new Map<string, Kept>();
  return async (a, b, { parameters, signal }) => {
    const order = Buffer.compare(a.hash, b.hash);
    if (order === 0) return sameText;
    const [low, high] = order < 0 ? [a, b] : [b, a];
    const { ngramSize, fuzzySampleSize } = parameters;
    const key = `${ngramSize} ${fuzzySampleSize} ${hexOf(low.hash)} ${hexOf(high.hash)}`;
    let pair = kept.get(key);
    if (pair === undefined) {
      const [scored] = await pool.run(
        scorePairs,
        {
          pairs: [[low.bytes(), high.bytes()]],
          parameters: { ngramSize, fuzzySampleSize },
          explained: true,
        },
        { signal, deadlineMs: DEADLINE_MS },
      );
      const { scores = SAME_TEXT, reasons = [], reversedReasons = [], tokens = [] } = scored ?? {};
      pair = { scores, reasons, reversedReasons, tokens };
    }
    kept.delete(key);
    kept.set(key, pair);
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT_PAIRS) break;
      kept.delete(oldest);
    }
    return order < 0 ? inOrder(pair) : reversed(pair);
  };
}

const sameText: ExplainedPair = {
  scores: SAME_TEXT,
  sameText: true,
  reasons: ["exact copy: the texts are the same, word for word"],
  tokens: [],
};

function inOrder({ scores, reasons, tokens }: Kept): ExplainedPair {
  return { scores, sameText: false, reasons, tokens };
}

function reversed({ scores, reversedReasons, tokens }: Kept): ExplainedPair {
  return {
    scores,
    sameText: false,
    reasons: reversedReasons,
    tokens: tokens.map((one) => ({ ...one, onlyA: one.onlyB, onlyB: one.onlyA })),
  };
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
