/**
 * What a person decided about a group, and what of it still holds. The verdict belongs to the
 * members and texts it was given on. While a group has members that are new since then (`gained` in
 * its row), the verdict rests: the group is pending, and the verdict shows up in its history.
 * Nothing is rewritten for that, so the verdict is back when the new members are gone.
 */
import { create } from "@bufbuild/protobuf";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { DecisionRowSchema, PastDecisionSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DecisionRow, GroupRow, PastDecision } from "../../gen/steward/state/v1/dedup_pb.ts";

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

/** Whether some of the members were not there when the verdict was given. */
export function hasNewMembers(decision: DecisionRow, members: readonly number[]): boolean {
  if (!isDecided(decision)) return false;
  const known = new Set(decision.decidedMembers);
  return members.some((docNo) => !known.has(docNo));
}

/**
 * Members of a verdict "not a duplicate" whose text is unchanged since; fewer than two reject
 * nothing.
 */
export function rejectedMembers(
  decision: DecisionRow,
  hashOf: (docNo: number) => Uint8Array | undefined,
): number[] {
  if (decision.status !== GroupStatus.FALSE_POSITIVE) return [];
  const kept = decision.decidedMembers.filter((docNo, index) =>
    sameBytes(decision.decidedHashes[index], hashOf(docNo)),
  );
  return kept.length > 1 ? kept : [];
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
  });
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
