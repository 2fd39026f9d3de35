/**
 * The groups on disk: reading one as readers see it, changing one so that the list follows, filling
 * the list at the start.
 */
import { create } from "@bufbuild/protobuf";
import { GroupRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DecisionRow, GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Env, Snapshot, Tx } from "../../kernel/state/types.ts";
import { decisions, groups } from "../tables.ts";
import { currentView, liveViews } from "./generations.ts";
import type { GroupView } from "./generations.ts";
import type { GroupIndex } from "./index.ts";
import { createGroupIndex } from "./index.ts";

/** A group with what was decided about it. */
export interface StoredGroup {
  readonly row: GroupRow;
  readonly decision: DecisionRow;
}

/** A group as readers see it. What cannot be an id is no group. */
export function readGroup(snapshot: Snapshot, id: string): StoredGroup | undefined {
  return /^[\w-]{1,64}$/.test(id) ? groupIn(snapshot, currentView(snapshot), id) : undefined;
}

/** The groups, as readers see them, that a document is a member of. */
export function groupsOfMember(snapshot: Snapshot, docNo: number): StoredGroup[] {
  return groupsOf(snapshot, currentView(snapshot), [docNo]);
}

/**
 * Ids of all groups with a document that the generations of a view store, without reading one: also
 * those of a lower generation whose upper row is without the document, or says that they are gone.
 */
export function indexedGroups(snapshot: Snapshot, view: GroupView, docNo: number): string[] {
  return view.flatMap((generation) =>
    snapshot.find(groups, "member", [generation, docNo]).map(([, id]) => id),
  );
}

function groupIn(snapshot: Snapshot, view: GroupView, id: string): StoredGroup | undefined {
  const row = rowIn(snapshot, view, id)?.row;
  const decision = row && snapshot.get(decisions, id);
  return row && decision ? { row, decision } : undefined;
}

/** The row of a group in a view, and the generation that stores it. */
export function rowIn(
  snapshot: Snapshot,
  view: GroupView,
  id: string,
): { readonly generation: number; readonly row: GroupRow } | undefined {
  for (const generation of view) {
    const row = snapshot.get(groups, [generation, id]);
    if (row) return row.removed ? undefined : { generation, row };
  }
  return undefined;
}

/** The groups of a view that have one of the documents as a member, each once. */
export function groupsOf(
  snapshot: Snapshot,
  view: GroupView,
  docNos: readonly number[],
): StoredGroup[] {
  const ids = docNos.flatMap((docNo) => indexedGroups(snapshot, view, docNo));
  return [...new Set(ids)].sort().flatMap((id) => {
    const group = groupIn(snapshot, view, id);
    return group && docNos.some((docNo) => group.row.members.includes(docNo)) ? [group] : [];
  });
}

/**
 * Changes a group in all live views; undefined removes it. A view without the group gets `absent`.
 * When no view has it any more, what was decided about it goes, too. The list follows once the
 * change is durable.
 */
export function changeGroup(
  tx: Tx,
  index: GroupIndex,
  id: string,
  options: {
    readonly change: (row: GroupRow) => GroupRow | undefined;
    readonly absent?: GroupRow | undefined;
  },
): void {
  const changed = new Set<number>();
  const found = liveViews(tx).map((view) => ({ view, stored: rowIn(tx, view, id) }));
  for (const { view, stored } of found) {
    if (!stored) {
      if (options.absent) tx.put(groups, [view[0], id], options.absent);
      continue;
    }
    const { generation, row } = stored;
    if (changed.has(generation)) continue;
    changed.add(generation);
    const next = options.change(row);
    if (next) tx.put(groups, [generation, id], next);
    else removeRow(tx, view, generation, id);
  }
  if (!found.some(({ view }) => rowIn(tx, view, id))) tx.delete(decisions, id);
  listGroup(tx, index, id);
}

function removeRow(tx: Tx, view: GroupView, generation: number, id: string): void {
  if (generation === view.at(-1)) tx.delete(groups, [generation, id]);
  else tx.put(groups, [generation, id], removedRow(id));
}

/** Hides the row of a group in the generation below. */
export function removedRow(id: string): GroupRow {
  return create(GroupRowSchema, { id, removed: true });
}

/** Brings the list up to date about a group, in all live views. */
export function listGroup(tx: Tx, index: GroupIndex, id: string): void {
  for (const view of liveViews(tx)) {
    const group = groupIn(tx, view, id);
    tx.after(() =>
      group ? index.put(view[0], group.row, group.decision) : index.remove(view[0], id),
    );
  }
}

/** Fills a new list with the groups that readers see, giving way to other work between slices. */
export async function openGroupIndex(
  env: Env,
  options: { readonly signal: AbortSignal },
): Promise<GroupIndex> {
  const index = createGroupIndex();
  const view = env.read(currentView);
  for (const generation of view.toReversed())
    await env.scan(
      groups,
      (batch) =>
        env.read((snapshot) => {
          for (const [, row] of batch) {
            const decision = row.removed ? undefined : snapshot.get(decisions, row.id);
            if (decision) index.put(view[0], row, decision);
            else index.remove(view[0], row.id);
          }
        }),
      { sliceMs: 5, signal: options.signal, bounds: { prefix: [generation] } },
    );
  index.show(view[0]);
  return index;
}

/** One bounded transaction, durable when it resolves; e.g. a job's commit. */
export type Commit = (change: (tx: Tx) => void) => Promise<void>;
