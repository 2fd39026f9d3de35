/**
 * What a person decided about a group, and what of it still holds. The verdict belongs to the
 * members and texts it was given on. While a group has members that are new since then (`gained` in
 * its row), the verdict rests: the group is pending, and the verdict shows up in its history. After
 * "not a duplicate" a member is new with another text or in a restored pair, too: the group was
 * found again by it. Nothing is rewritten for that, so the verdict is back when the new members are
 * gone.
 */
import { create } from "@bufbuild/protobuf";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { DecisionRowSchema, PastDecisionSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DecisionRow, GroupRow, PastDecision } from "../../gen/steward/state/v1/dedup_pb.ts";
import { withoutAcceptance } from "./acceptance.ts";

/** The most earlier verdicts a group keeps; the oldest go first. */
export const HISTORY_LIMIT = 100;

/** A member and the content hash it has. */
export interface Decided {
  readonly docNo: number;
  readonly contentHash: Uint8Array;
}

/** A new decision. */
export interface Verdict {
  readonly status: GroupStatus;
  readonly members: readonly Decided[];
  /** Title of the primary document, kept for the record when the status is deleted. */
  readonly primaryTitle: string | undefined;
  readonly atMs: number;
}

/** The record of an undecided group. */
export function newDecision(createdAtMs: number): DecisionRow {
  return create(DecisionRowSchema, {
    status: GroupStatus.PENDING,
    createdAtMs,
    updatedAtMs: createdAtMs,
  });
}

/** The status a reader sees. */
export function statusOf(row: Pick<GroupRow, "gained">, decision: DecisionRow): GroupStatus {
  return row.gained ? GroupStatus.PENDING : (decision.status as GroupStatus);
}

/** Earlier verdicts, oldest first, including a suspended one. */
export function historyOf(
  row: Pick<GroupRow, "gained">,
  decision: DecisionRow,
): readonly PastDecision[] {
  return row.gained ? withPresentVerdict(decision) : decision.history;
}

/** Whether a person gave a verdict that is not simply "pending". */
export function isDecided(decision: DecisionRow): boolean {
  return decision.status !== GroupStatus.PENDING;
}

/** Whether a person accepted the group or chose what stays: worth keeping without a verdict. */
export function isReviewed({ acceptedAtMs, primary }: DecisionRow): boolean {
  return acceptedAtMs !== undefined || primary !== undefined;
}

/**
 * Whether some of the members are new since the verdict. `hashOf` gives the present texts of a group
 * that was found; without it only members that were not there are new. A verdict that came after
 * the group was found has no restored pairs.
 */
export function hasNewMembers(
  decision: DecisionRow,
  members: readonly number[],
  hashOf?: (docNo: number) => Uint8Array | undefined,
): boolean {
  if (!isDecided(decision)) return false;
  const { status, decidedMembers, decidedHashes } = decision;
  const known = new Map(decidedMembers.map((docNo, at) => [docNo, decidedHashes[at]]));
  if (members.some((docNo) => !known.has(docNo))) return true;
  if (status !== GroupStatus.FALSE_POSITIVE || hashOf === undefined) return false;
  const present = new Set(members);
  return (
    members.some((docNo) => !sameBytes(known.get(docNo), hashOf(docNo))) ||
    pairsOf(decision.restoredPairs).some(([a, b]) => present.has(a) && present.has(b))
  );
}

/**
 * Sets of members of a verdict "not a duplicate" of which no two are duplicates: pairs whose texts
 * are unchanged since and that were not restored. Each set has at least two members.
 */
export function rejectedSets(
  decision: DecisionRow,
  hashOf: (docNo: number) => Uint8Array | undefined,
): number[][] {
  const kept = unchangedMembers(decision, hashOf);
  if (kept.length < 2) return [];
  const restored = restoredPairs(decision);
  if (restored.size === 0) return [kept];
  const isRestored = (a: number, b: number): boolean => restored.has(pairKey(a, b));
  const ends = new Set(decision.restoredPairs);
  const special = kept.filter((docNo) => ends.has(docNo));
  const others = kept.filter((docNo) => !ends.has(docNo));
  const sets = [others, ...special.map((docNo) => [...others, docNo])];
  for (const [at, a] of special.entries())
    for (const b of special.slice(at + 1)) if (!isRestored(a, b)) sets.push([a, b]);
  return sets.filter(({ length }) => length > 1);
}

/** Pairs that a verdict "not a duplicate" rejects, in the order in which its members were decided. */
export function* rejectedPairs(
  decision: DecisionRow,
  hashOf: (docNo: number) => Uint8Array | undefined,
): Generator<readonly [a: number, b: number]> {
  const kept = unchangedMembers(decision, hashOf);
  const restored = restoredPairs(decision);
  for (const [at, a] of kept.entries())
    for (const b of kept.slice(at + 1)) if (!restored.has(pairKey(a, b))) yield [a, b];
}

/** The most pairs of one verdict that are restored one by one. */
export const RESTORED_PAIRS = 100;

/** The record with one more restored pair. */
export function withRestoredPair(decision: DecisionRow, a: number, b: number): DecisionRow {
  return create(DecisionRowSchema, {
    ...decision,
    restoredPairs: [...decision.restoredPairs, a, b],
  });
}

function restoredPairs({ restoredPairs: flat }: DecisionRow): ReadonlySet<string> {
  return new Set(pairsOf(flat).map(([a, b]) => pairKey(a, b)));
}

function pairsOf(flat: readonly number[]): (readonly [a: number, b: number])[] {
  return Array.from({ length: flat.length / 2 }, (_, at) => [
    flat[2 * at] ?? 0,
    flat[2 * at + 1] ?? 0,
  ]);
}

function pairKey(a: number, b: number): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}

function unchangedMembers(
  { status, decidedMembers, decidedHashes }: DecisionRow,
  hashOf: (docNo: number) => Uint8Array | undefined,
): number[] {
  if (status !== GroupStatus.FALSE_POSITIVE) return [];
  return decidedMembers.filter((docNo, at) => sameBytes(decidedHashes[at], hashOf(docNo)));
}

/** The record after a verdict. */
export function decide(
  row: Pick<GroupRow, "gained">,
  decision: DecisionRow,
  verdict: Verdict,
): DecisionRow {
  const decided = verdict.status === GroupStatus.PENDING ? [] : verdict.members;
  const next = create(DecisionRowSchema, {
    ...decision,
    status: verdict.status,
    decidedAtMs: verdict.atMs,
    updatedAtMs: verdict.atMs,
    history: [
      ...(row.gained || decision.decidedAtMs !== undefined
        ? withPresentVerdict(decision)
        : decision.history),
    ],
    decidedMembers: decided.map(({ docNo }) => docNo),
    decidedHashes: decided.map(({ contentHash }) => contentHash),
    restoredPairs: [],
  });
  withoutAcceptance(next);
  delete next.archivedMemberCount;
  delete next.archivedPrimaryTitle;
  delete next.deletedAtMs;
  if (verdict.status !== GroupStatus.DELETED) return next;
  next.archivedMemberCount = verdict.members.length;
  next.deletedAtMs = verdict.atMs;
  if (verdict.primaryTitle !== undefined) next.archivedPrimaryTitle = verdict.primaryTitle;
  return next;
}

function withPresentVerdict(decision: DecisionRow): PastDecision[] {
  const present = create(PastDecisionSchema, {
    status: decision.status,
    decidedAtMs: decision.decidedAtMs ?? decision.createdAtMs,
  });
  return [...decision.history, present].slice(-HISTORY_LIMIT);
}

function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && Buffer.compare(a, b) === 0;
}
