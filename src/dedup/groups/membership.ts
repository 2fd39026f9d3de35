/** Documents that leave: every group loses them, in the transaction that deletes the document. */
import type { Tx } from "../../kernel/state/types.ts";
import { decisions, groups } from "../tables.ts";
import { isDecided } from "./decision.ts";
import { liveViews } from "./generations.ts";
import type { GroupIndex } from "./index.ts";
import { withoutMember } from "./row.ts";
import type { Commit } from "./store.ts";
import { changeGroup, groupsOf } from "./store.ts";

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
      const found = liveViews(tx).flatMap((view) => groupsOf(tx, view, docNo));
      const decided = new Map(
        found.map(({ row, decision }) => [row.id, isDecided(decision)] as const),
      );
      for (const [id, isKept] of decided)
        changeGroup(tx, index, id, {
          change(row) {
            if (!row.members.includes(docNo)) return row;
            const left = withoutMember(row, docNo, nowMs);
            return left.members.length >= 2 || isKept ? left : undefined;
          },
        });
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

function dropSome(tx: Tx, index: GroupIndex): number {
  const rows = [...tx.range(groups, { limit: ROWS_AT_ONCE })];
  const views = liveViews(tx);
  for (const [[generation, id]] of rows) {
    tx.delete(groups, [generation, id]);
    tx.after(() => views.forEach(([view]) => index.remove(view, id)));
  }
  const records = [...tx.range(decisions, { limit: 4 * ROWS_AT_ONCE })];
  for (const [id] of records) tx.delete(decisions, id);
  return rows.length + records.length;
}
