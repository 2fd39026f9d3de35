/**
 * What a group consists of, as a short text: equal for equal members, texts, pairs and scores, so
 * that a group that was found again as it is needs no row to compare with.
 */
import { hash } from "node:crypto";
import type { GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Findings } from "./graph.ts";
import { ALGORITHM_VERSION } from "./row.ts";

/** Of a stored group. */
export function contentOfRow(row: GroupRow): string {
  const { members, memberTexts, pairMembers, pairScores } = row;
  return contentOf(row.algorithmVersion, [
    members.length,
    ...scoresOf(row),
    ...members,
    ...memberTexts,
    ...pairMembers,
    ...pairScores.map(known),
  ]);
}

/** Of a group as it was found; the same as that of the row that is made from it. */
export function contentOfFindings({ members, texts, pairs, scores }: Findings): string {
  return contentOf(ALGORITHM_VERSION, [
    members.length,
    ...scoresOf(scores),
    ...members,
    ...texts,
    ...pairs.flatMap(({ a, b }) => [a, b]),
    ...pairs.flatMap((pair) => scoresOf(pair)),
  ]);
}

function scoresOf(scores: {
  readonly confidence: number;
  readonly jaccard?: number | undefined;
  readonly fuzzy?: number | undefined;
  readonly discriminative?: number | undefined;
}): number[] {
  return [scores.confidence, scores.jaccard, scores.fuzzy, scores.discriminative].map(known);
}

/** A score, or a number that is none for one that was not computed. */
function known(score = Number.NaN): number {
  return Number.isNaN(score) ? -1 : score;
}

function contentOf(version: string, numbers: readonly number[]): string {
  const bytes = new Uint8Array(Float64Array.from(numbers).buffer);
  return `${version} ${hash("sha256", bytes, "base64url").slice(0, 22)}`;
}
