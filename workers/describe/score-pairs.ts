/** Scores pairs of stored texts in full, whatever the threshold, and compares their tokens. */
import type { TaskControl } from "../control.ts";
import { stopped } from "../control.ts";
import { discriminativeOfHashes } from "../score/discriminative.ts";
import { explain } from "../score/explain.ts";
import { fuzzyRatio } from "../score/fuzzy.ts";
import { jaccardAtLeast } from "../score/jaccard.ts";
import { CATEGORIES } from "../score/token-sets.ts";
import type { TokenSets } from "../score/token-sets.ts";
import { tokensOf } from "../score/tokens.ts";
import { storedText } from "../text/compress.ts";
import { sampleOfText } from "../text/sample.ts";
import { createTextFeatures } from "../verify/text-features.ts";
import type { FeatureParameters } from "../verify/text-features.ts";
import type { FullScores, ScoredPair, ScorePairsInput, TokenDifference } from "./tasks.ts";

/** Tokens of one list, and UTF-16 units of one token. */
const MAX_TOKENS = 50;
const MAX_TOKEN_UNITS = 100;

/** In input order. Throws `cancelled`, or `corrupt` for a text that cannot be unpacked. */
export function run(input: ScorePairsInput, control: TaskControl): ScoredPair[] {
  return input.pairs.map(([packedA, packedB]) => {
    if (control.cancelled()) throw stopped();
    const [a, b] = [storedText(packedA), storedText(packedB)];
    const scores = fullScores(a, b, input.parameters);
    control.step(1);
    return input.explained ? { scores, ...explained(a, b, scores, input.parameters) } : { scores };
  });
}

/** The scores that a verification gives a pair that passes. */
function fullScores(a: Uint8Array, b: Uint8Array, parameters: FeatureParameters): FullScores {
  const [inA, inB] = [createTextFeatures(a, parameters), createTextFeatures(b, parameters)];
  return {
    jaccard: jaccardAtLeast(inA.shingles, inB.shingles, 0),
    fuzzy: fuzzyRatio(inA.sortedSample, inB.sortedSample),
    discriminative: discriminativeOfHashes(
      inA.tokens.words,
      inA.tokens.counts,
      0,
      inB.tokens.words,
      inB.tokens.counts,
      0,
    ),
  };
}

function explained(
  a: Uint8Array,
  b: Uint8Array,
  { jaccard, fuzzy }: FullScores,
  { ngramSize, fuzzySampleSize }: FeatureParameters,
): Pick<ScoredPair, "reasons" | "reversedReasons" | "tokens"> {
  const [inA, inB] = [a, b].map((text) => tokensOf(sampleOfText(text, fuzzySampleSize))) as [
    TokenSets,
    TokenSets,
  ];
  const facts = { jaccard, fuzzy, sameText: false, ngramSize };
  return {
    reasons: explain(inA, inB, facts),
    reversedReasons: explain(inB, inA, facts),
    tokens: compareTokens(inA, inB),
  };
}

function compareTokens(a: TokenSets, b: TokenSets): TokenDifference[] {
  return CATEGORIES.flatMap((category) => {
    const [inA, inB] = [new Set(a[category]), new Set(b[category])];
    if (inA.size + inB.size === 0) return [];
    const lists = {
      shared: a[category].filter((token) => inB.has(token)),
      onlyA: a[category].filter((token) => !inB.has(token)),
      onlyB: b[category].filter((token) => !inA.has(token)),
    };
    const shortened = Object.values(lists).some((list) => list.length > MAX_TOKENS);
    return [
      {
        category,
        shared: shorten(lists.shared),
        onlyA: shorten(lists.onlyA),
        onlyB: shorten(lists.onlyB),
        shortened,
      },
    ];
  });
}

function shorten(tokens: readonly string[]): string[] {
  return tokens.slice(0, MAX_TOKENS).map((token) => token.slice(0, MAX_TOKEN_UNITS));
}
