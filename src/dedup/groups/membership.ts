/** Documents that leave: every group loses them, at the latest in the transaction that deletes them. */
import type { Env, Snapshot, Tx } from "../../kernel/state/types.ts";
import { decisions, groups } from "../tables.ts";
import { changeBatches, sizeOfRow, sum, type ChangeSize } from "./change-size.ts";
import { isDecided } from "./decision.ts";
import { liveViews } from "./generations.ts";
import type { GroupIndex } from "./index.ts";
import { withoutMembers } from "./row.ts";
import type { Commit } from "./store.ts";
import { changeGroup, groupsOf } from "./store.ts";

/** What a sync does to groups. */
export interface Membership {
  /**
   * Takes documents out of every group. A primary is followed by the suggested one or the first
   * that remains. With fewer than two members left a pending group is removed and a decided one
   * keeps its status. Call `leaveGroups` before: what is left fits into one transaction then.
   */
  forgetMembers(tx: Tx, docNos: readonly number[], nowMs: number): void;
  /**
   * Takes documents that will be removed out of so many of their groups, in bounded transactions,
   * that one transaction can do the rest. Each group is as without them before they are gone.
   */
  leaveGroups(
    store: { readonly env: Pick<Env, "read">; readonly commit: Commit },
    docNos: readonly number[],
    nowMs: number,
  ): Promise<void>;
  /** Forgets all groups and decisions in bounded transactions. */
  forgetAll(commit: Commit, signal: AbortSignal): Promise<void>;
}

/** Rows deleted in one transaction. */
const ROWS_AT_ONCE = 32;

/** The changes of membership, shown by the given list. */
export function createMembership(index: GroupIndex): Membership {
  return {
    forgetMembers: (tx, docNos, nowMs) =>
      takeOut(tx, index, { ids: groupsOfMembers(tx, docNos).keys(), docNos, nowMs }),
    async leaveGroups({ env, commit }, docNos, nowMs) {
      const found = env.read((snapshot) => groupsOfMembers(snapshot, docNos));
      const batches = [...changeBatches(found, ([, size]) => size)];
      for (const batch of batches.slice(0, -1))
        await commit((tx) => takeOut(tx, index, { ids: batch.map(([id]) => id), docNos, nowMs }));
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

/** The groups with one of these documents in any live view, and the size of their rows in all. */
function groupsOfMembers(
  snapshot: Snapshot,
  docNos: readonly number[],
): ReadonlyMap<string, ChangeSize> {
  const found = new Map<string, ChangeSize>();
  for (const view of liveViews(snapshot))
    for (const { row } of groupsOf(snapshot, view, docNos)) {
      const before = found.get(row.id);
      found.set(row.id, before === undefined ? sizeOfRow(row) : sum(before, sizeOfRow(row)));
    }
  return found;
}

function takeOut(
  tx: Tx,
  index: GroupIndex,
  change: {
    readonly ids: Iterable<string>;
    readonly docNos: readonly number[];
    readonly nowMs: number;
  },
): void {
  const gone = new Set(change.docNos);
  for (const id of change.ids) {
    const decision = tx.get(decisions, id);
    const isKept = decision !== undefined && isDecided(decision);
    changeGroup(tx, index, id, {
      change(row) {
        const left = withoutMembers(row, gone, change.nowMs);
        return left === row || left.members.length >= 2 || isKept ? left : undefined;
      },
    });
  }
}

function dropSome(tx: Tx, index: GroupIndex): number {
  const found = tx.range(groups, { limit: ROWS_AT_ONCE });
  const [rows = []] = changeBatches(found, ([, row]) => sizeOfRow(row));
  const views = liveViews(tx);
  for (const [[generation, id]] of rows) {
    tx.delete(groups, [generation, id]);
    tx.after(() => views.forEach(([view]) => index.remove(view, id)));
  }
  const records = [...tx.range(decisions, { limit: 4 * ROWS_AT_ONCE })];
  for (const [id] of records) tx.delete(decisions, id);
  return rows.length + records.length;
}
