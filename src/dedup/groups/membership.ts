/** Documents that leave: every group loses them, in the transaction that deletes the document. */
import type { Tx } from "../../kernel/state/types.ts";
import { decisions, groups } from "../tables.ts";
import { isDecided } from "./decision.ts";
import { liveGenerations } from "./generations.ts";
import type { GroupIndex } from "./index.ts";
import { withoutMember } from "./row.ts";
import type { Commit } from "./store.ts";
import { groupIn, putGroup, removeGroup } from "./store.ts";

/** What a sync does to groups. */
export interface Membership {
  /**
   * Takes a document out of every group. A primary is followed by the suggested one or the first
   * that remains. With fewer than two members left a pending group is removed and a decided one
   * keeps its status.
   */
  forgetMember(tx: Tx, docNo: number, nowMs: number): void;
  /** Forgets all groups and decisions in bounded transactions. */
  forgetAll(commit: Commit, signal: AbortSignal): Promise<void>;
}

/** Rows deleted in one transaction. */
const ROWS_AT_ONCE = 32;

/** The changes of membership, shown by the given list. */
export function createMembership(index: GroupIndex): Membership {
  return {
    forgetMember(tx, docNo, nowMs) {
      const live = liveGenerations(tx);
      for (const generation of live) {
        for (const [, id] of tx.find(groups, "member", [generation, docNo])) {
          const group = groupIn(tx, generation, id);
          if (!group) continue;
          const row = withoutMember(group.row, docNo, nowMs);
          if (row.members.length >= 2 || isDecided(group.decision))
            putGroup(tx, index, generation, { row, decision: group.decision });
          else dropGroup(tx, index, generation, id, live);
        }
      }
    },
    async forgetAll(commit, signal) {
      for (;;) {
        signal.throwIfAborted();
        let dropped = 0;
        await commit((tx) => {
          dropped = dropSome(tx, index);
        });
        if (dropped === 0) return;
      }
    },
  };
}

function dropGroup(
  tx: Tx,
  index: GroupIndex,
  generation: number,
  id: string,
  live: readonly number[],
): void {
  removeGroup(tx, index, generation, id);
  if (!live.some((one) => tx.get(groups, [one, id]))) tx.delete(decisions, id);
}

function dropSome(tx: Tx, index: GroupIndex): number {
  const rows = [...tx.range(groups, { limit: ROWS_AT_ONCE })];
  for (const [[generation, id]] of rows) removeGroup(tx, index, generation, id);
  const records = [...tx.range(decisions, { limit: 4 * ROWS_AT_ONCE })];
  for (const [id] of records) tx.delete(decisions, id);
  return rows.length + records.length;
}
