/**
 * The scores of a stored group under other weights. The similarities of its pairs stay; confidence,
 * the order of the pairs and the group's means follow from them as they would in an analysis. Pure.
 */
import { create } from "@bufbuild/protobuf";
import { confidenceOf } from "../../../workers/verify/pair-verifier.ts";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import { SAME_TEXT } from "../../../workers/verify/pair-verifier.ts";
import type { FullScores } from "../../../workers/describe/tasks.ts";
import type { ScoreParameters } from "../../../workers/score/confidence.ts";
import { GroupRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { PAIR_LIMIT } from "./graph.ts";
import { createMeanScores } from "./mean-scores.ts";
import { pairsOfRow } from "./row.ts";

/** Two members, by their index, each standing for its text. */
export interface IndexPair {
  readonly a: number;
  readonly b: number;
}

/** Scores of a pair of members that the row does not hold; undefined when they cannot be had. */
export type ScoreLookup = (pair: IndexPair) => FullScores | undefined;

/** Every verified pair of texts of a group, with what is known of its scores. */
interface KnownPair extends IndexPair {
  readonly stored: PairScores | undefined;
}

/**
 * The pairs whose scores must be computed before the row can be rescored: those that miss a score
 * which the weights need, and those that the row had no room for.
 */
export function pairsToScore(row: GroupRow, parameters: ScoreParameters): IndexPair[] {
  return allPairs(row)
    .filter(({ stored }) => stored === undefined || lacks(stored, parameters))
    .map(({ a, b }) => ({ a, b }));
}

/**
 * The row under the parameters, marked to be described again. `order` compares two members by the
 * hash of their texts. A pair whose missing scores cannot be had stays as it is.
 */
export function rescoreRow(
  row: GroupRow,
  parameters: ScoreParameters,
  facts: {
    readonly lookup: ScoreLookup;
    readonly order: (a: number, b: number) => number;
    readonly nowMs: number;
  },
): GroupRow {
  const sizes = textSizes(row);
  const mean = createMeanScores();
  for (const size of sizes.values()) mean.add(SAME_TEXT, (size * (size - 1)) / 2);
  const pairs = allPairs(row).flatMap((pair) => {
    const scores = newScores(pair, parameters, facts.lookup);
    if (scores === undefined) return [];
    mean.add(scores, (sizes.get(pair.a) ?? 0) * (sizes.get(pair.b) ?? 0));
    return [{ a: pair.a, b: pair.b, ...scores }];
  });
  const centre = centreTexts(row);
  const other = ({ a, b }: IndexPair): number => (centre.has(a) ? b : a);
  const best = pairs
    .sort((x, y) => y.confidence - x.confidence || facts.order(other(x), other(y)))
    .slice(0, PAIR_LIMIT);
  // What is left of a decided group may have no pair.
  if (mean.count() === 0) return row;
  const { confidence, jaccard, fuzzy, discriminative } = mean.scores();
  const next = create(GroupRowSchema, {
    ...row,
    confidence,
    jaccard,
    outdated: true,
    updatedAtMs: facts.nowMs,
    pairMembers: best.flatMap(({ a, b }) => [a, b]),
    pairScores: best.flatMap((pair) => [
      pair.confidence,
      pair.jaccard,
      pair.fuzzy,
      pair.discriminative,
    ]),
  });
  delete next.fuzzy;
  delete next.discriminative;
  if (!Number.isNaN(fuzzy)) next.fuzzy = fuzzy;
  if (!Number.isNaN(discriminative)) next.discriminative = discriminative;
  return next;
}

function newScores(
  pair: KnownPair,
  parameters: ScoreParameters,
  lookup: ScoreLookup,
): PairScores | undefined {
  const complete =
    pair.stored !== undefined && !lacks(pair.stored, parameters) ? pair.stored : lookup(pair);
  if (complete === undefined) return pair.stored;
  const scores = {
    jaccard: complete.jaccard,
    fuzzy: parameters.confidenceWeightFuzzy > 0 ? complete.fuzzy : Number.NaN,
    discriminative:
      parameters.discriminativePenaltyStrength > 0 ? complete.discriminative : Number.NaN,
  };
  return { ...scores, confidence: confidenceOf(scores, parameters) };
}

function lacks(scores: PairScores, parameters: ScoreParameters): boolean {
  return (
    (parameters.confidenceWeightFuzzy > 0 && Number.isNaN(scores.fuzzy)) ||
    (parameters.discriminativePenaltyStrength > 0 && Number.isNaN(scores.discriminative))
  );
}

/** How many members have each text, by the index of the member that represents it. */
function textSizes(row: GroupRow): Map<number, number> {
  const sizes = new Map<number, number>();
  for (const text of row.memberTexts) sizes.set(text, (sizes.get(text) ?? 0) + 1);
  return sizes;
}

function allPairs(row: GroupRow): KnownPair[] {
  const stored = pairsOfRow(row);
  const pairs: KnownPair[] = stored.map((pair) => ({ a: pair.a, b: pair.b, stored: pair }));
  if (stored.length < PAIR_LIMIT) return pairs;
  const centre = centreTexts(row);
  const met = new Set(stored.flatMap(({ a, b }) => [a, b]));
  for (const text of textSizes(row).keys())
    if (!met.has(text))
      for (const own of centre)
        pairs.push({ a: Math.min(own, text), b: Math.max(own, text), stored: undefined });
  return pairs;
}

/**
 * The members that represent the centre's text: several only where a rejection set documents of one
 * text apart. Every pair of a group has one of them.
 */
function centreTexts(row: GroupRow): ReadonlySet<number> {
  const pairs = pairsOfRow(row);
  const times = new Map<number, number>();
  for (const { a, b } of pairs)
    for (const text of [a, b]) times.set(text, (times.get(text) ?? 0) + 1);
  let centre = -1;
  for (const [text, count] of times) if (count > (times.get(centre) ?? 0)) centre = text;
  const first = pairs.find(({ a, b }) => a === centre || b === centre);
  if (first === undefined) return new Set();
  const neighbour = first.a === centre ? first.b : first.a;
  return new Set(pairs.flatMap(({ a, b }) => (a === neighbour ? [b] : b === neighbour ? [a] : [])));
}
