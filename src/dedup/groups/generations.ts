/**
 * Which generation of groups readers see and which one an analysis is writing. A change by a person
 * or a sync goes to both, so that what happens during an analysis is not undone by its end.
 */
import { create } from "@bufbuild/protobuf";
import { MetaRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Snapshot, Tx } from "../../kernel/state/types.ts";
import { metaNumber, setMetaNumber } from "../meta.ts";
import { meta } from "../tables.ts";

const WRITING = "writingGeneration";

/** The generation that readers see; 0 before the first analysis. */
export function currentGeneration(snapshot: Snapshot): number {
  return metaNumber(snapshot, "generation") ?? 0;
}

/** The generation being written, the next after the current one; undefined when there is none. */
function writingGeneration(snapshot: Snapshot): number | undefined {
  const next = currentGeneration(snapshot) + 1;
  return snapshot.get(meta, WRITING)?.number === next ? next : undefined;
}

/** The generations that a change must reach, the current one first. */
export function liveGenerations(snapshot: Snapshot): number[] {
  const writing = writingGeneration(snapshot);
  return writing === undefined
    ? [currentGeneration(snapshot)]
    : [currentGeneration(snapshot), writing];
}

/** Announces that the next generation is being written; returns its number. */
export function beginGeneration(tx: Tx): number {
  const next = currentGeneration(tx) + 1;
  tx.put(meta, WRITING, create(MetaRowSchema, { number: next }));
  return next;
}

/** Lets readers see the generation that was written. */
export function flipGeneration(tx: Tx, generation: number): void {
  setMetaNumber(tx, "generation", generation);
  tx.delete(meta, WRITING);
}
