/**
 * The groups on disk: reading one as readers see it, changing one so that the list follows, filling
 * the list at the start.
 */
import type { DecisionRow, GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Env, Snapshot, Tx } from "../../kernel/state/types.ts";
import { decisions, groups } from "../tables.ts";
import { currentGeneration } from "./generations.ts";
import type { GroupIndex } from "./index.ts";
import { createGroupIndex } from "./index.ts";

/** A group with what was decided about it. */
export interface StoredGroup {
  readonly row: GroupRow;
  readonly decision: DecisionRow;
}

/** A group as readers see it. What cannot be an id is no group. */
export function readGroup(snapshot: Snapshot, id: string): StoredGroup | undefined {
  return /^[\w-]{1,64}$/.test(id) ? groupIn(snapshot, currentGeneration(snapshot), id) : undefined;
}

/** A group of one generation. */
export function groupIn(
  snapshot: Snapshot,
  generation: number,
  id: string,
): StoredGroup | undefined {
  const row = snapshot.get(groups, [generation, id]);
  const decision = row && snapshot.get(decisions, id);
  return row && decision ? { row, decision } : undefined;
}

/** Writes both rows of a group; the list follows once they are durable. */
export function putGroup(
  tx: Tx,
  index: GroupIndex,
  generation: number,
  { row, decision }: StoredGroup,
): void {
  tx.put(groups, [generation, row.id], row);
  tx.put(decisions, row.id, decision);
  tx.after(() => index.put(generation, row, decision));
}

/** Removes a group from one generation; what was decided about it is the caller's. */
export function removeGroup(tx: Tx, index: GroupIndex, generation: number, id: string): void {
  tx.delete(groups, [generation, id]);
  tx.after(() => index.remove(generation, id));
}

/** Fills a new list with the groups that readers see, giving way to other work between slices. */
export async function openGroupIndex(
  env: Env,
  options: { readonly signal: AbortSignal },
): Promise<GroupIndex> {
  const index = createGroupIndex();
  const generation = env.read(currentGeneration);
  await env.scan(
    groups,
    (batch) =>
      env.read((snapshot) => {
        for (const [, row] of batch) {
          const decision = snapshot.get(decisions, row.id);
          if (decision) index.put(generation, row, decision);
        }
      }),
    { sliceMs: 5, signal: options.signal, bounds: { prefix: [generation] } },
  );
  index.show(generation);
  return index;
}

/** One bounded transaction, durable when it resolves; e.g. a job's commit. */
export type Commit = (change: (tx: Tx) => void) => Promise<void>;
