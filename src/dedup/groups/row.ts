/**
 * A group as it is stored: made from what the analysis found, read as pairs, and without a member
 * that is gone. Pure.
 */
import { create } from "@bufbuild/protobuf";
import { GroupRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DecisionRow, GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { isAccepted } from "./acceptance.ts";
import type { FoundGroup } from "./graph.ts";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";

/** Names the way groups and scores are made; a change of either changes it. */
export const ALGORITHM_VERSION = "3.0.1";

/** What the analysis adds to a found group. */
export interface RowFacts {
  readonly id: string;
  /** Document number. */
  readonly suggestedPrimary: number;
  readonly reasons: readonly string[];
  readonly gained: boolean;
  readonly updatedAtMs: number;
}

/** The row of a found group. */
export function groupRow(
  found: Pick<FoundGroup, "members" | "texts" | "pairs" | "scores">,
  facts: RowFacts,
): GroupRow {
  const { confidence, jaccard, fuzzy, discriminative } = found.scores;
  return create(GroupRowSchema, {
    id: facts.id,
    members: [...found.members],
    memberTexts: [...found.texts],
    suggestedPrimary: facts.suggestedPrimary,
    confidence,
    jaccard,
    ...known({ fuzzy, discriminative }),
    algorithmVersion: ALGORITHM_VERSION,
    updatedAtMs: facts.updatedAtMs,
    pairMembers: found.pairs.flatMap((pair) => [pair.a, pair.b]),
    pairScores: found.pairs.flatMap((pair) => [
      pair.confidence,
      pair.jaccard,
      pair.fuzzy,
      pair.discriminative,
    ]),
    reasons: [...facts.reasons],
    gained: facts.gained,
  });
}

/** The scores that were computed. */
function known<T extends Readonly<Record<string, number>>>(scores: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(scores).filter(([, score]) => !Number.isNaN(score)),
  ) as Partial<T>;
}

/** A verified pair of members, by document number. */
export interface MemberPair extends PairScores {
  readonly a: number;
  readonly b: number;
}

const EQUAL_TEXTS: PairScores = { confidence: 1, jaccard: 1, fuzzy: 1, discriminative: 1 };

/** The pair of representatives at a place. */
function pairAt(row: GroupRow, index: number): MemberPair {
  const [confidence = 0, jaccard = 0, fuzzy = 0, discriminative = 0] = row.pairScores.slice(
    4 * index,
    4 * index + 4,
  );
  return {
    a: row.pairMembers[2 * index] ?? 0,
    b: row.pairMembers[2 * index + 1] ?? 0,
    confidence,
    jaccard,
    fuzzy,
    discriminative,
  };
}

/** All verified pairs of texts that the row holds, by the index of the members that stand for them. */
export function pairsOfRow(row: GroupRow): MemberPair[] {
  return Array.from({ length: row.pairMembers.length / 2 }, (_, index) => pairAt(row, index));
}

/**
 * The first verified pairs of members: one for each two texts, then those of equal texts, then the
 * other members that have two verified texts. By document number.
 */
export function memberPairs(row: GroupRow, limit: number): MemberPair[] {
  const byText = new Map<number, number[]>();
  for (const [member, text] of row.memberTexts.entries()) {
    const own = byText.get(text);
    if (own === undefined) byText.set(text, [member]);
    else own.push(member);
  }
  return allPairs(row, byText)
    .take(limit)
    .map((pair) => ({ ...pair, a: row.members[pair.a] ?? 0, b: row.members[pair.b] ?? 0 }))
    .toArray();
}

function* allPairs(
  row: GroupRow,
  byText: ReadonlyMap<number, readonly number[]>,
): Generator<MemberPair> {
  const count = row.pairMembers.length / 2;
  for (let index = 0; index < count; index++) yield pairAt(row, index);
  for (const members of byText.values()) {
    for (const [index, a] of members.entries())
      for (let other = index + 1; other < members.length; other++)
        yield { a, b: members[other] ?? 0, ...EQUAL_TEXTS };
  }
  for (let index = 0; index < count; index++) {
    const pair = pairAt(row, index);
    for (const a of byText.get(pair.a) ?? [])
      for (const b of byText.get(pair.b) ?? [])
        if (a !== pair.a || b !== pair.b) yield { ...pair, a, b };
  }
}

/**
 * The member that stays: the person's choice, else the one that was to stay when the group was
 * accepted, else the suggestion, else the first. Undefined without members.
 */
export function primaryOf(row: GroupRow, decision: DecisionRow): number | undefined {
  const accepted = isAccepted(row, decision) ? decision.acceptedPrimary : undefined;
  return [decision.primary, accepted, row.suggestedPrimary, row.members[0]].find(
    (docNo) => docNo !== undefined && row.members.includes(docNo),
  );
}

/**
 * The row without some members, the same row where it has none of them. Its scores stay what the
 * analysis found; the pairs of a text that is gone go with it.
 */
export function withoutMembers(row: GroupRow, gone: ReadonlySet<number>, nowMs: number): GroupRow {
  const kept = [...row.members.keys()].filter((member) => !gone.has(row.members[member] ?? 0));
  if (kept.length === row.members.length) return row;
  // The first member that is left of a text stands for it, unless the one that did is left.
  const standing = new Map<number, number>();
  for (const [index, member] of kept.entries()) {
    const text = row.memberTexts[member] ?? member;
    if (member === text || !standing.has(text)) standing.set(text, index);
  }
  const members = kept.map((member) => row.members[member] ?? 0);
  const pairs = pairsOfRow(row).filter(({ a, b }) => standing.has(a) && standing.has(b));
  return create(GroupRowSchema, {
    ...row,
    members,
    updatedAtMs: nowMs,
    outdated: true,
    memberTexts: kept.map((member) => standing.get(row.memberTexts[member] ?? member) ?? 0),
    pairMembers: pairs.flatMap(({ a, b }) => [standing.get(a) ?? 0, standing.get(b) ?? 0]),
    pairScores: pairs.flatMap((pair) => [
      pair.confidence,
      pair.jaccard,
      pair.fuzzy,
      pair.discriminative,
    ]),
    suggestedPrimary: gone.has(row.suggestedPrimary) ? (members[0] ?? 0) : row.suggestedPrimary,
  });
}

/** The members that have a verified pair with one member, and the scores of these pairs. */
export function verifiedWith(row: GroupRow, docNo: number): ReadonlyMap<number, PairScores> {
  const text = row.memberTexts[row.members.indexOf(docNo)];
  if (text === undefined) return new Map();
  const byText = new Map<number, PairScores>([[text, EQUAL_TEXTS]]);
  for (let index = 0; index < row.pairMembers.length / 2; index++) {
    const { a, b, ...scores } = pairAt(row, index);
    if (a === text || b === text) byText.set(a === text ? b : a, scores);
  }
  const verified = new Map<number, PairScores>();
  for (const [member, own] of row.members.entries()) {
    const scores = byText.get(row.memberTexts[member] ?? -1);
    if (own !== docNo && scores !== undefined) verified.set(own, scores);
  }
  return verified;
}
