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
import { decisions, documents, groups } from "../tables.ts";
import { decide, hasNewMembers, isDecided, statusOf } from "./decision.ts";
import { currentGeneration, liveGenerations } from "./generations.ts";
import type { GroupIndex } from "./index.ts";
import { primaryOf } from "./row.ts";
import type { StoredGroup } from "./store.ts";
import { putGroup, readGroup, removeGroup } from "./store.ts";

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

/**
 * Records a verdict; the same one again changes nothing. Throws `not_found`, and `conflict` when a
 * deleted group that has fewer than two members left is to come back.
 */
export function setStatus(
  tx: Tx,
  index: GroupIndex,
  change: { readonly id: string; readonly status: GroupStatus; readonly nowMs: number },
): StoredGroup {
  const { id, status, nowMs } = change;
  const group = requireGroup(tx, id);
  const before = statusOf(group.row, group.decision);
  if (before === status) return group;
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
    members: group.row.members.map((docNo) => ({
      docNo,
      contentHash: tx.get(documents, docNo)?.contentHash ?? new Uint8Array(),
    })),
    primaryTitle: primary === undefined ? undefined : tx.get(documents, primary)?.title,
  });
  const current = currentGeneration(tx);
  for (const generation of liveGenerations(tx)) {
    const row = tx.get(groups, [generation, id]) ?? (isDecided(decision) ? group.row : undefined);
    if (row) putGroup(tx, index, generation, { row: withDecision(row, decision), decision });
  }
  return { row: withDecision(tx.get(groups, [current, id]) ?? group.row, decision), decision };
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
  putGroup(tx, index, currentGeneration(tx), { row: group.row, decision });
  return { row: group.row, decision };
}

/** Forgets a group and everything decided about it; the documents stay. Throws `not_found`. */
export function deleteGroup(tx: Tx, index: GroupIndex, id: string): void {
  requireGroup(tx, id);
  for (const generation of liveGenerations(tx)) removeGroup(tx, index, generation, id);
  tx.delete(decisions, id);
}
