/**
 * Acceptance of a pending group: a person agrees that all members but the primary may be deleted.
 * It belongs to the members and texts it was given on, like a verdict: with another member the
 * group is no longer accepted, and a new status ends the acceptance.
 */
import { create } from "@bufbuild/protobuf";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { DecisionRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DecisionRow, GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";

/** Whether the group is in the delete plan. */
export function isAccepted(
  { members, gained }: Pick<GroupRow, "members" | "gained">,
  { acceptedAtMs, acceptedMembers, status }: DecisionRow,
): boolean {
  if (acceptedAtMs === undefined || gained || status !== GroupStatus.PENDING) return false;
  const known = new Set(acceptedMembers);
  return members.length > 1 && members.every((docNo) => known.has(docNo));
}

/** Whether the members have the texts with which they were accepted. */
export function hasAcceptedTexts(
  { acceptedMembers, acceptedHashes }: DecisionRow,
  members: Acceptance["members"],
): boolean {
  const accepted = new Map(acceptedMembers.map((docNo, at) => [docNo, acceptedHashes[at]]));
  return members.every(({ docNo, contentHash }) => {
    const hash = accepted.get(docNo);
    return hash !== undefined && Buffer.compare(hash, contentHash) === 0;
  });
}

interface Acceptance {
  readonly members: readonly { readonly docNo: number; readonly contentHash: Uint8Array }[];
  /** The member that was to stay, whoever chose it: the analysis may suggest another one later. */
  readonly primary: number;
  readonly atMs: number;
}

/** The record of a group that was accepted. */
export function withAcceptance(
  decision: DecisionRow,
  { members, primary, atMs }: Acceptance,
): DecisionRow {
  return create(DecisionRowSchema, {
    ...decision,
    updatedAtMs: atMs,
    acceptedAtMs: atMs,
    acceptedMembers: members.map(({ docNo }) => docNo),
    acceptedHashes: members.map(({ contentHash }) => contentHash),
    acceptedPrimary: primary,
  });
}

/** Ends an acceptance in the record itself. */
export function withoutAcceptance(decision: DecisionRow): DecisionRow {
  delete decision.acceptedAtMs;
  delete decision.acceptedPrimary;
  decision.acceptedMembers = [];
  decision.acceptedHashes = [];
  return decision;
}
