/**
 * Writing a generation of groups. Readers see one generation; an analysis writes what the next one
 * changes in bounded transactions and then lets readers see it by one small write. Afterwards the
 * changes are merged into the base, and what a crash left is removed, in bounded transactions.
 */
import type { GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Bounds, Tx } from "../../kernel/state/types.ts";
import { setMetaNumber, setMetaText } from "../meta.ts";
import { decisions, documents, groups } from "../tables.ts";
import { changeBatches, checkMembers, sizeOfRow, sum } from "./change-size.ts";
import { hasNewMembers, isDecided, newDecision } from "./decision.ts";
import {
  baseGeneration,
  beginGeneration,
  currentGeneration,
  flipGeneration,
} from "./generations.ts";
import type { GroupIndex } from "./index.ts";
import { isLost, LOST_GENERATION, loseGroup } from "./lost.ts";
import { withoutMembers } from "./row.ts";
import type { Commit } from "./store.ts";
import { removedRow } from "./store.ts";

/** A group for the next generation. */
export interface PlannedGroup {
  /** Complete but for `gained`. */
  readonly row: GroupRow;
  /**
   * Was not found again and only stays for what was decided about it: not written when that is
   * gone.
   */
  readonly kept: boolean;
  /** The row is the one that readers see. */
  readonly isStored: boolean;
  /** Beside the generation before. */
  readonly change: GroupChange;
}

/** What becomes of a group in the next generation. */
type GroupChange = "created" | "updated" | "none";

/** Writes one generation. */
export interface GenerationWriter {
  readonly generation: number;
  /**
   * Takes groups; writes those that are not stored, as they are now: without members that are gone,
   * with what was decided meanwhile. Of those with new members it looks again whether they still
   * have.
   */
  write(planned: readonly PlannedGroup[]): Promise<void>;
  /** Counts groups that stay as readers see them. */
  leave(count: number): void;
  /**
   * Removes groups, but those that were decided about meanwhile. What was accepted, or has a chosen
   * primary, becomes lost.
   */
  remove(ids: readonly string[]): Promise<void>;
  /** Groups taken so far. */
  readonly written: number;
  /** Groups taken so far with this change. */
  count(change: GroupChange): number;
  /** Lets readers see the generation. */
  flip(facts: {
    readonly atMs: number;
    readonly fingerprint: string;
    /** Names the weights of the scores. */
    readonly weights: string;
  }): Promise<void>;
}

/**
 * Begins the next generation. Announces it, so that decisions reach it from now on. Sweep before.
 */
export async function createGenerationWriter(
  commit: Commit,
  index: GroupIndex,
  nowMs: number,
): Promise<GenerationWriter> {
  let generation = 0;
  await commit((tx) => {
    generation = beginGeneration(tx);
  });
  index.forget(generation);
  let written = 0;
  const changes: Record<GroupChange, number> = { created: 0, updated: 0, none: 0 };
  return {
    generation,
    get written() {
      return written;
    },
    count: (change) => changes[change],
    async write(planned) {
      const differing = planned.filter(({ isStored, row }) => !isStored || row.gained);
      written += planned.length - differing.length;
      changes.none += planned.length - differing.length;
      for (const { row } of differing) checkMembers(row);
      for (const batch of changeBatches(differing, ({ row }) => sizeOfRow(row))) {
        let some: PlannedGroup[] = [];
        await commit((tx) => {
          some = batch.filter((group) => writeOne(tx, index, generation, group, nowMs));
        });
        written += some.length;
        for (const { change } of some) changes[change] += 1;
      }
    },
    leave(count) {
      written += count;
      changes.none += count;
    },
    async remove(ids) {
      for (let at = 0; at < ids.length; at += REMOVED_ROWS)
        await commit((tx) => {
          for (const id of ids.slice(at, at + REMOVED_ROWS)) {
            const decision = tx.get(decisions, id);
            if (!decision || isDecided(decision)) continue;
            tx.put(groups, [generation, id], removedRow(id));
            tx.after(() => index.remove(generation, id));
          }
        });
    },
    flip: ({ atMs, fingerprint, weights }) =>
      commit((tx) => {
        flipGeneration(tx, generation);
        setMetaNumber(tx, "lastAnalysisAtMs", atMs);
        setMetaNumber(tx, "totalGroups", written);
        setMetaText(tx, "analysisFingerprint", fingerprint);
        setMetaText(tx, "scoreWeights", weights);
        tx.after(() => index.show(generation));
      }),
  };
}

/** Begins and ends a generation in which nothing changes. Sweep before. */
export async function repeatGeneration(
  commit: Commit,
  index: GroupIndex,
  atMs: number,
): Promise<void> {
  await commit((tx) => {
    const generation = beginGeneration(tx);
    flipGeneration(tx, generation);
    setMetaNumber(tx, "lastAnalysisAtMs", atMs);
    tx.after(() => index.show(generation));
  });
}

function writeOne(
  tx: Tx,
  index: GroupIndex,
  generation: number,
  planned: PlannedGroup,
  nowMs: number,
): boolean {
  const known = tx.get(decisions, planned.row.id);
  if (planned.kept && !known) return false;
  const gone = planned.row.members.filter((member) => !tx.get(documents, member));
  const row = withoutMembers(planned.row, new Set(gone), nowMs);
  const decision = known ?? newDecision(nowMs);
  if (row.members.length < 2 && !isDecided(decision)) return false;
  const hashOf = (docNo: number): Uint8Array | undefined => tx.get(documents, docNo)?.contentHash;
  row.gained = hasNewMembers(decision, row.members, planned.kept ? undefined : hashOf);
  tx.put(groups, [generation, row.id], row);
  if (!known) tx.put(decisions, row.id, decision);
  tx.after(() => index.put(generation, row, decision));
  return true;
}

/** Groups removed in one transaction. */
const REMOVED_ROWS = 64;
/** Rows moved or deleted in one transaction. */
const SWEEP_ROWS = 32;

/**
 * Merges the generation that readers see into the base and removes every other one, with the
 * records of groups that are in no generation. Readers see the same groups at any moment.
 */
export async function sweepGenerations(commit: Commit): Promise<void> {
  for (;;) {
    let swept = 0;
    await commit((tx) => {
      swept = sweepSome(tx);
    });
    if (swept === 0) return;
  }
}

function sweepSome(tx: Tx): number {
  const [current, base] = [currentGeneration(tx), baseGeneration(tx)];
  return (
    (current === base ? 0 : mergeSome(tx, current, base)) ||
    removeSome(tx, { start: [LOST_GENERATION + 1], end: [Math.max(base, LOST_GENERATION + 1)] }) ||
    removeSome(tx, { start: [base + 1] })
  );
}

function mergeSome(tx: Tx, current: number, base: number): number {
  const found = tx.range(groups, { prefix: [current], limit: SWEEP_ROWS });
  // Deleted there and stored here, or taken out of the base and perhaps stored as lost.
  const [merged = []] = changeBatches(found, ([, row]) => {
    const moved = sizeOfRow(row.removed ? (tx.get(groups, [base, row.id]) ?? row) : row);
    return sum(moved, moved);
  });
  for (const [, row] of merged) {
    tx.delete(groups, [current, row.id]);
    if (row.removed) loseGroup(tx, base, row.id);
    else tx.put(groups, [base, row.id], row);
  }
  return merged.length;
}

/** Removes rows of generations that no view has; the current one is merged before. */
function removeSome(tx: Tx, bounds: Bounds): number {
  const found = tx.range(groups, { ...bounds, limit: SWEEP_ROWS });
  const [stale = []] = changeBatches(found, ([, row]) => sizeOfRow(row));
  for (const [[generation, id]] of stale) {
    tx.delete(groups, [generation, id]);
    if (!tx.get(groups, [baseGeneration(tx), id]) && !isLost(tx, id)) tx.delete(decisions, id);
  }
  return stale.length;
}
