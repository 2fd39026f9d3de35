/**
 * The check of `bench/dedup.ts --exhaustive`: every pair of documents whose confidence reaches the
 * threshold, found without sketches, and how many of them share a group.
 */
import { defaultParameters } from "../src/dedup/analysis/parameters.ts";
import { safeJaccardFloor } from "../workers/score/confidence.ts";
import { verifyPair } from "../workers/verify/pair-verifier.ts";
import { createTextFeatures } from "../workers/verify/text-features.ts";
import type { TextFeatures } from "../workers/verify/text-features.ts";
import { identify } from "../workers/text/signature.ts";

/** Pairs of distinct texts at or above the threshold, and how many of them share a group. */
export interface ExhaustiveResult {
  readonly compared: number;
  readonly pairs: number;
  readonly shared: number;
}

/**
 * Compares all pairs whose Jaccard similarity can reach the threshold: a set join with a prefix
 * filter, rarest shingles first, which loses none.
 */
export function exhaustiveCheck(
  texts: readonly string[],
  groups: readonly (readonly number[])[],
): ExhaustiveResult {
  const parameters = defaultParameters;
  const floor = safeJaccardFloor(parameters);
  const groupsOf = new Map<number, Set<number>>();
  for (const [group, members] of groups.entries())
    for (const member of members) {
      const known = groupsOf.get(member) ?? new Set();
      groupsOf.set(member, known.add(group));
    }
  const documents: number[] = [];
  const features: TextFeatures[] = [];
  const known = new Set<string>();
  for (const [number, text] of texts.entries()) {
    const { hash, words } = identify(text);
    const key = Buffer.from(hash).toString("latin1");
    if (words < parameters.minWords || known.has(key)) continue;
    known.add(key);
    documents.push(number);
    features.push(createTextFeatures(text, parameters));
  }
  const counts = { compared: 0, pairs: 0, shared: 0 };
  for (const [one, other] of similarPairs(features, floor)) {
    counts.compared += 1;
    const [a, b] = [features[one], features[other]];
    if (!a || !b || Number.isNaN(verifyPair(a, b, parameters).confidence)) continue;
    counts.pairs += 1;
    const inA = groupsOf.get(documents[one] ?? -1);
    const inB = groupsOf.get(documents[other] ?? -1);
    if (inA && inB && [...inA].some((group) => inB.has(group))) counts.shared += 1;
  }
  return counts;
}

/** Pairs that share a shingle of both prefixes and whose sizes allow the bound. */
function* similarPairs(
  features: readonly TextFeatures[],
  floor: number,
): Generator<readonly [number, number]> {
  const frequency = new Map<number, number>();
  for (const { shingles } of features)
    for (const shingle of shingles) frequency.set(shingle, (frequency.get(shingle) ?? 0) + 1);
  const index = new Map<number, number[]>();
  const last = new Int32Array(features.length).fill(-1);
  for (const [one, { shingles }] of features.entries()) {
    const rarest = [...shingles].sort(
      (a, b) => (frequency.get(a) ?? 0) - (frequency.get(b) ?? 0) || a - b,
    );
    const prefix = rarest.slice(0, rarest.length - Math.ceil(floor * rarest.length) + 1);
    for (const shingle of prefix) {
      if ((frequency.get(shingle) ?? 0) < 2) continue;
      const list = index.get(shingle) ?? [];
      for (const other of list) {
        if (last[other] === one) continue;
        last[other] = one;
        const sizes = [shingles.length, features[other]?.shingles.length ?? 0];
        if (Math.min(...sizes) >= floor * Math.max(...sizes)) yield [other, one];
      }
      list.push(one);
      index.set(shingle, list);
    }
  }
}
