/**
 * What a reviewer does to a group. Each change is one transaction and reaches the generation being
 * written, too.
 */
import { create } from "@bufbuild/protobuf";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { DecisionRowSchema, GroupRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DecisionRow, GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Snapshot, Tx } from "../../kernel/state/types.ts";
import { metaNumber, setMetaNumber } from "../meta.ts";
import { decisions, documents } from "../tables.ts";
import { hasAcceptedTexts, isAccepted, withAcceptance, withoutAcceptance } from "./acceptance.ts";
import { decide, hasNewMembers, isDecided, statusOf, type Decided } from "./decision.ts";
import type { GroupIndex } from "./index.ts";
import { primaryOf } from "./row.ts";
import type { StoredGroup } from "./store.ts";
import { changeGroup, listGroup, readGroup } from "./store.ts";

/** The group, or `not_found`. */
export function requireGroup(snapshot: Snapshot, id: string): StoredGroup {
  const group = readGroup(snapshot, id);
  if (!group)
    throw new StewardError(
      "not_found",
      `there is no duplicate group "${id}"; GET /api/v1/duplicates lists them`,
    );
  return group;
}

/** Members that readers see: none while the group is deleted. */
export function visibleMembers({ row, decision }: StoredGroup): readonly number[] {
  return statusOf(row, decision) === GroupStatus.DELETED ? [] : row.members;
}

/** Whether a verdict would change nothing. One that new members suspend is not the group's status. */
export function hasStatus({ row, decision }: StoredGroup, status: GroupStatus): boolean {
  return !row.gained && statusOf(row, decision) === status;
}

/**
 * Records a verdict; the same one again changes nothing. "Pending" takes back a verdict that new
 * members suspend, too: it would go on to hold for pairs of the other members. Throws `not_found`,
 * and `conflict` when a deleted group that has fewer than two members left is to come back.
 */
export function setStatus(
  tx: Tx,
  index: GroupIndex,
  change: { readonly id: string; readonly status: GroupStatus; readonly nowMs: number },
): StoredGroup {
  const { id, status, nowMs } = change;
  const group = requireGroup(tx, id);
  const before = statusOf(group.row, group.decision);
  if (hasStatus(group, status)) return group;
  if (before === GroupStatus.DELETED && group.row.members.length < 2) {
    throw new StewardError(
      "conflict",
      `duplicate group "${id}" cannot be restored: it has ${group.row.members.length} of the two members a group needs; delete it instead`,
    );
  }
  const primary = primaryOf(group.row, group.decision);
  const decision = decide(group.row, group.decision, {
    status,
    atMs: nowMs,
    members: group.row.members.map((docNo) => decidedMember(tx, docNo)),
    primaryTitle: primary === undefined ? undefined : tx.get(documents, primary)?.title,
  });
  const row = withDecision(group.row, decision);
  tx.put(decisions, id, decision);
  if (before === GroupStatus.PENDING && status !== GroupStatus.PENDING)
    setMetaNumber(tx, "groupsActioned", (metaNumber(tx, "groupsActioned") ?? 0) + 1);
  changeGroup(tx, index, id, {
    change: (own) => withDecision(own, decision),
    absent: isDecided(decision) ? row : undefined,
  });
  return { row, decision };
}

function withDecision(row: GroupRow, decision: DecisionRow): GroupRow {
  return create(GroupRowSchema, { ...row, gained: hasNewMembers(decision, row.members) });
}

/**
 * Records which member stays. Throws `not_found` when there is no such group or the document is no
 * member of it.
 */
export function setPrimary(
  tx: Tx,
  index: GroupIndex,
  change: {
    readonly id: string;
    readonly docNo: number | undefined;
    readonly documentId: string;
    readonly nowMs: number;
  },
): StoredGroup {
  const { id, docNo, documentId, nowMs } = change;
  const group = requireGroup(tx, id);
  if (docNo === undefined || !visibleMembers(group).includes(docNo)) {
    throw new StewardError(
      "not_found",
      `document "${documentId}" is no member of duplicate group "${id}"; choose one of its members`,
      { field: "documentId" },
    );
  }
  const decision = create(DecisionRowSchema, {
    ...group.decision,
    primary: docNo,
    updatedAtMs: nowMs,
  });
  tx.put(decisions, id, decision);
  listGroup(tx, index, id);
  return { row: group.row, decision };
}

/**
 * Puts a group into the delete plan; one that is in it is accepted anew when a text has changed
 * since. Returns false and changes nothing for one that is unknown, not pending, or in the plan
 * with the present texts.
 */
export function acceptGroup(tx: Tx, index: GroupIndex, id: string, nowMs: number): boolean {
  const group = readGroup(tx, id);
  if (group === undefined) return false;
  const { row, decision } = group;
  if (statusOf(row, decision) !== GroupStatus.PENDING) return false;
  const members = row.members.map((docNo) => decidedMember(tx, docNo));
  if (isAccepted(row, decision) && hasAcceptedTexts(decision, members)) return false;
  const primary = primaryOf(row, decision);
  if (primary === undefined) return false;
  // Members that are new since an earlier verdict suspend it; acceptance replaces that verdict.
  const pending = row.gained
    ? decide(row, decision, {
        status: GroupStatus.PENDING,
        members: [],
        primaryTitle: undefined,
        atMs: nowMs,
      })
    : decision;
  putDecision(tx, index, id, withAcceptance(pending, { members, primary, atMs: nowMs }));
  return true;
}

/** Takes a group out of the delete plan. Returns false for one that is not in it. */
export function withdrawGroup(tx: Tx, index: GroupIndex, id: string, nowMs: number): boolean {
  const group = readGroup(tx, id);
  if (group === undefined || !isAccepted(group.row, group.decision)) return false;
  const decision = create(DecisionRowSchema, { ...group.decision, updatedAtMs: nowMs });
  putDecision(tx, index, id, withoutAcceptance(decision));
  return true;
}

/** Writes the decision with the group's row in each live view, whose `gained` follows from it. */
function putDecision(tx: Tx, index: GroupIndex, id: string, decision: DecisionRow): void {
  tx.put(decisions, id, decision);
  changeGroup(tx, index, id, { change: (row) => withDecision(row, decision) });
}

function decidedMember(tx: Tx, docNo: number): Decided {
  return { docNo, contentHash: tx.get(documents, docNo)?.contentHash ?? new Uint8Array() };
}

/** Forgets a group and everything decided about it; the documents stay. Throws `not_found`. */
export function deleteGroup(tx: Tx, index: GroupIndex, id: string): void {
  requireGroup(tx, id);
  changeGroup(tx, index, id, { change: () => undefined });
}
