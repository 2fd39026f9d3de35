/** Decisions about single pairs of documents, which follow from those about groups. */
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import type { DecisionRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Env, Snapshot, Tx } from "../../kernel/state/types.ts";
import { decisions, documents } from "../tables.ts";
import { rejectedPairs, rejectedSets, RESTORED_PAIRS, withRestoredPair } from "./decision.ts";
import type { GroupIndex } from "./index.ts";
import { setStatus } from "./review.ts";
import { groupsOfMember, listGroup, readGroup } from "./store.ts";

/** A pair that was decided to be no duplicates. */
export interface RejectedPair {
  readonly a: number;
  readonly b: number;
  readonly group: string;
  readonly decidedAtMs: number;
}

/** A page of all rejected pairs, those of the oldest group first; yields to other work. */
export async function listRejected(
  { env, index }: { readonly env: Env; readonly index: GroupIndex },
  page: { readonly offset: number; readonly limit: number },
  signal: AbortSignal,
): Promise<{ readonly pairs: RejectedPair[]; readonly total: number }> {
  const rejecting = index.listed().filter(({ rejected }) => rejected);
  const pairs: RejectedPair[] = [];
  let total = 0;
  const turns = new Turns();
  for (const { id } of rejecting) {
    if (turns.over) await turns.give(signal);
    env.read((snapshot) => {
      const group = readGroup(snapshot, id);
      if (group === undefined) return;
      const count = countRejected(snapshot, group.decision);
      const first = Math.max(0, page.offset - total);
      const wanted = page.limit - pairs.length;
      if (first < count && wanted > 0)
        for (const [a, b] of rejectedPairs(group.decision, hashIn(snapshot))
          .drop(first)
          .take(wanted))
          pairs.push({
            a,
            b,
            group: id,
            decidedAtMs: group.decision.decidedAtMs ?? group.decision.updatedAtMs,
          });
      total += count;
    });
  }
  return { pairs, total };
}

function countRejected(snapshot: Snapshot, decision: DecisionRow): number {
  const unchanged = { ...decision, restoredPairs: [] };
  const [members = []] = rejectedSets(unchanged, hashIn(snapshot));
  const known = new Set(members);
  const pairs = decision.restoredPairs;
  let restored = 0;
  for (let at = 0; at < pairs.length; at += 2)
    if (known.has(pairs[at] ?? 0) && known.has(pairs[at + 1] ?? 0)) restored += 1;
  return (members.length * (members.length - 1)) / 2 - restored;
}

function hashIn(snapshot: Snapshot): (docNo: number) => Uint8Array | undefined {
  return (docNo) => snapshot.get(documents, docNo)?.contentHash;
}

/** Ids of the groups whose decision rejects the pair. */
export function rejectingGroups(snapshot: Snapshot, a: number, b: number): string[] {
  return groupsOfMember(snapshot, a).flatMap(({ row, decision }) =>
    rejectedSets(decision, hashIn(snapshot)).some((set) => set.includes(a) && set.includes(b))
      ? [row.id]
      : [],
  );
}

/**
 * Takes back the decision about a pair. A group without any other rejected pair is pending again.
 * Returns the ids of those groups; undefined when nothing was decided about the pair. Throws
 * `conflict` when too many pairs of a group were restored already.
 */
export function restorePair(
  tx: Tx,
  index: GroupIndex,
  { a, b, nowMs }: { readonly a: number; readonly b: number; readonly nowMs: number },
): string[] | undefined {
  const ids = rejectingGroups(tx, a, b);
  if (ids.length === 0) return undefined;
  return ids.filter((id) => {
    const decision = readGroup(tx, id)?.decision;
    if (decision === undefined) return false;
    if (decision.restoredPairs.length >= 2 * RESTORED_PAIRS)
      throw new StewardError(
        "conflict",
        `${RESTORED_PAIRS} pairs of duplicate group "${id}" were restored already; set its status to pending instead`,
        { rule: "restored pairs" },
      );
    const next = withRestoredPair(decision, a, b);
    if (countRejected(tx, next) === 0) {
      setStatus(tx, index, { id, status: GroupStatus.PENDING, nowMs });
      return true;
    }
    tx.put(decisions, id, { ...next, updatedAtMs: nowMs });
    listGroup(tx, index, id);
    return false;
  });
}
