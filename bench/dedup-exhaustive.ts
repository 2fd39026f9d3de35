/**
 * The check of `bench/dedup.ts --exhaustive`: every pair of texts whose Jaccard similarity is at
 * least .4, found without sketches and scored in full, and whether those at or above the threshold
 * share a group; and whether every pair that the analysis reports reaches it.
 */
import { defaultParameters } from "../src/dedup/analysis/parameters.ts";
import { discriminativeOfHashes } from "../workers/score/discriminative.ts";
import { confidence } from "../workers/score/confidence.ts";
import { fuzzyRatio } from "../workers/score/fuzzy.ts";
import { jaccardAtLeast } from "../workers/score/jaccard.ts";
import { createTextFeatures } from "../workers/verify/text-features.ts";
import type { TextFeatures } from "../workers/verify/text-features.ts";
import { identify } from "../workers/text/signature.ts";

/** Counts of pairs of distinct texts. */
export interface ExhaustiveResult {
  readonly texts: number;
  /** Pairs whose Jaccard similarity is at least the floor. */
  readonly similar: number;
  /** Those at or above the threshold, and those of them that share a group. */
  readonly pairs: number;
  readonly shared: number;
  /** Reported pairs, and those of them that reach the threshold. */
  readonly edges: number;
  readonly trueEdges: number;
  /** Seconds of the check. */
  readonly seconds: number;
}

/** Below it no pair can reach a threshold that anybody uses; with the defaults .583 is enough. */
const FLOOR = 0.4;

/** What an analysis found, by the numbers of documents. */
interface Found {
  readonly members: readonly (readonly number[])[];
  /** Two numbers a pair. */
  readonly edgeEnds: readonly number[];
}

/** A set join with a prefix filter, rarest shingles first, which loses no pair; then full scores. */
export function exhaustiveCheck(
  texts: readonly string[],
  { members: groups, edgeEnds }: Found,
): ExhaustiveResult {
  const startMs = performance.now();
  const groupsOf = new Map<number, Set<number>>();
  for (const [group, members] of groups.entries())
    for (const member of members) {
      const known = groupsOf.get(member) ?? new Set();
      groupsOf.set(member, known.add(group));
    }
  const documents: number[] = [];
  const features: TextFeatures[] = [];
  const known = new Map<string, number>();
  const textOf = texts.map((text, number) => {
    const { hash, words } = identify(text);
    const key = Buffer.from(hash).toString("latin1");
    const before = known.get(key);
    if (words < defaultParameters.minWords || before !== undefined) return before ?? -1;
    known.set(key, features.length);
    documents.push(number);
    features.push(createTextFeatures(text, defaultParameters));
    return features.length - 1;
  });
  const counts = { similar: 0, pairs: 0, shared: 0, trueEdges: 0 };
  for (const [one, other, jaccard] of similarPairs(features)) {
    counts.similar += 1;
    if (!reaches(features[one], features[other], jaccard)) continue;
    counts.pairs += 1;
    const inA = groupsOf.get(documents[one] ?? -1);
    const inB = groupsOf.get(documents[other] ?? -1);
    if (inA && inB && [...inA].some((group) => inB.has(group))) counts.shared += 1;
  }
  for (let edge = 0; edge < edgeEnds.length; edge += 2) {
    const [a, b] = [edgeEnds[edge], edgeEnds[edge + 1]].map(
      (document) => features[textOf[document ?? -1] ?? -1],
    );
    if (a && b && reaches(a, b, jaccardAtLeast(a.shingles, b.shingles, 0))) counts.trueEdges += 1;
  }
  const seconds = (performance.now() - startMs) / 1_000;
  return { texts: features.length, edges: edgeEnds.length / 2, ...counts, seconds };
}

/** Whether the full scores of a pair reach the threshold; D and F without any bound. */
function reaches(
  a: TextFeatures | undefined,
  b: TextFeatures | undefined,
  jaccard: number,
): boolean {
  if (!a || !b) return false;
  const { similarityThreshold: threshold } = defaultParameters;
  // F is the dearest: left out where even 1 is too little.
  const discriminative = discriminativeOfHashes(
    a.tokens.words,
    a.tokens.counts,
    0,
    b.tokens.words,
    b.tokens.counts,
    0,
  );
  if (confidence(jaccard, 1, discriminative, defaultParameters) < threshold) return false;
  const fuzzy = fuzzyRatio(a.sortedSample, b.sortedSample);
  return confidence(jaccard, fuzzy, discriminative, defaultParameters) >= threshold;
}

/** Pairs at or above the floor with their Jaccard similarity. */
function* similarPairs(
  features: readonly TextFeatures[],
): Generator<readonly [number, number, number]> {
  const frequency = new Map<number, number>();
  for (const { shingles } of features)
    for (const shingle of shingles) frequency.set(shingle, (frequency.get(shingle) ?? 0) + 1);
  const index = new Map<number, number[]>();
  const last = new Int32Array(features.length).fill(-1);
  for (const [one, { shingles }] of features.entries()) {
    const rarest = [...shingles].sort(
      (a, b) => (frequency.get(a) ?? 0) - (frequency.get(b) ?? 0) || a - b,
    );
    const prefix = rarest.slice(0, rarest.length - Math.ceil(FLOOR * rarest.length) + 1);
    for (const shingle of prefix) {
      if ((frequency.get(shingle) ?? 0) < 2) continue;
      const list = index.get(shingle) ?? [];
      for (const other of list) {
        if (last[other] === one) continue;
        last[other] = one;
        const against = features[other]?.shingles ?? new Uint32Array();
        const sizes = [shingles.length, against.length];
        if (Math.min(...sizes) < FLOOR * Math.max(...sizes)) continue;
        const jaccard = jaccardAtLeast(against, shingles, FLOOR);
        if (!Number.isNaN(jaccard)) yield [other, one, jaccard];
      }
      list.push(one);
      index.set(shingle, list);
    }
  }
}
