/**
 * Which groups readers see and which an analysis is writing. A generation stores the groups that
 * differ from those of the base generation, and lies over it; afterwards it is merged into the base.
 * A change by a person or a sync goes to both views, so that what happens during an analysis is not
 * undone by its end.
 *
 * ```text
 *   current view   [g, base]       rows of g hide those of base with the same id
 *   next view      [g + 1, base]   while an analysis writes; g is merged into base by then
 * ```
 */
import { create } from "@bufbuild/protobuf";
import { MetaRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import { assert } from "../../kernel/base/errors.ts";
import type { Snapshot, Tx } from "../../kernel/state/types.ts";
import { metaNumber, setMetaNumber } from "../meta.ts";
import { groups, meta } from "../tables.ts";

const WRITING = "writingGeneration";

/** Generations in which a group is looked up, the first of which names the view. */
export type GroupView = readonly [number, ...number[]];

/** The generation that readers see; 0 before the first analysis. */
export function currentGeneration(snapshot: Snapshot): number {
  return metaNumber(snapshot, "generation") ?? 0;
}

/** The generation that lies below. */
export function baseGeneration(snapshot: Snapshot): number {
  return metaNumber(snapshot, "baseGeneration") ?? currentGeneration(snapshot);
}

/** What readers see. */
export function currentView(snapshot: Snapshot): GroupView {
  const [current, base] = [currentGeneration(snapshot), baseGeneration(snapshot)];
  return current === base ? [base] : [current, base];
}

/** The views that a change must reach, the current one first. */
export function liveViews(snapshot: Snapshot): GroupView[] {
  const current = currentView(snapshot);
  const next = current[0] + 1;
  return snapshot.get(meta, WRITING)?.number === next
    ? [current, [next, baseGeneration(snapshot)]]
    : [current];
}

/** Announces that the next generation is being written; returns its number. */
export function beginGeneration(tx: Tx): number {
  const [current, base] = [currentGeneration(tx), baseGeneration(tx)];
  assert(
    current === base || isEmptyGeneration(tx, current),
    "the current generation is merged before the next one begins",
  );
  tx.put(meta, WRITING, create(MetaRowSchema, { number: current + 1 }));
  return current + 1;
}

/** Lets readers see the generation that was written. */
export function flipGeneration(tx: Tx, generation: number): void {
  const base = baseGeneration(tx);
  setMetaNumber(tx, "baseGeneration", isEmptyGeneration(tx, base) ? generation : base);
  setMetaNumber(tx, "generation", generation);
  tx.delete(meta, WRITING);
}

function isEmptyGeneration(snapshot: Snapshot, generation: number): boolean {
  for (const _ of snapshot.range(groups, { prefix: [generation], limit: 1 })) return false;
  return true;
}
