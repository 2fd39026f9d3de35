/**
 * Writing a generation of groups. Readers see one generation; an analysis writes the next one
 * beside it in bounded transactions and then lets readers see it by one small write. What is left
 * of other generations, also by a crash, is swept away in bounded transactions.
 */
import type { GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Tx } from "../../kernel/state/types.ts";
import { setMetaNumber, setMetaText } from "../meta.ts";
import { decisions, documents, groups } from "../tables.ts";
import { hasNewMembers, isDecided, newDecision } from "./decision.ts";
import { beginGeneration, currentGeneration, flipGeneration } from "./generations.ts";
import type { GroupIndex } from "./index.ts";
import { withoutMember } from "./row.ts";
import type { Commit } from "./store.ts";

/** A group for the next generation. */
export interface PlannedGroup {
  /** Complete but for `gained`. */
  readonly row: GroupRow;
  /**
   * Was not found again and only stays for what was decided about it: not written when that is
   * gone.
   */
  readonly kept: boolean;
  /** Beside the generation before. */
  readonly change: GroupChange;
}

/** What becomes of a group in the next generation. */
type GroupChange = "created" | "updated" | "none";

/** Writes one generation. */
export interface GenerationWriter {
  readonly generation: number;
  /**
   * Writes groups as they are now: without members that are gone, with what was decided meanwhile.
   */
  write(planned: readonly PlannedGroup[]): Promise<void>;
  /** Groups written so far. */
  readonly written: number;
  /** Groups written so far with this change. */
  count(change: GroupChange): number;
  /** Lets readers see the generation. */
  flip(facts: { readonly atMs: number; readonly fingerprint: string }): Promise<void>;
}

/** Cost of a transaction in rows and index entries touched; about 5 µs each. */
const COST_LIMIT = 300;
/** A transaction stays under 1 MiB. */
const BYTES_LIMIT = 512 * 1024;

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
      for (const batch of boundedBatches(planned)) {
        let some: PlannedGroup[] = [];
        await commit((tx) => {
          some = batch.filter((group) => writeOne(tx, index, generation, group, nowMs));
        });
        written += some.length;
        for (const { change } of some) changes[change] += 1;
      }
    },
    flip: ({ atMs, fingerprint }) =>
      commit((tx) => {
        flipGeneration(tx, generation);
        setMetaNumber(tx, "lastAnalysisAtMs", atMs);
        setMetaNumber(tx, "totalGroups", written);
        setMetaText(tx, "analysisFingerprint", fingerprint);
        tx.after(() => index.show(generation));
      }),
  };
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
  let { row } = planned;
  for (const member of planned.row.members)
    if (!tx.get(documents, member)) row = withoutMember(row, member, nowMs);
  const decision = known ?? newDecision(nowMs);
  if (row.members.length < 2 && !isDecided(decision)) return false;
  row.gained = hasNewMembers(decision, row.members);
  tx.put(groups, [generation, row.id], row);
  if (!known) tx.put(decisions, row.id, decision);
  tx.after(() => index.put(generation, row, decision));
  return true;
}

function* boundedBatches(planned: readonly PlannedGroup[]): Generator<PlannedGroup[]> {
  let batch: PlannedGroup[] = [];
  let [cost, bytes] = [0, 0];
  for (const group of planned) {
    const { members, pairMembers } = group.row;
    const [ownCost, ownBytes] = [
      4 + 2 * members.length,
      1_024 + 40 * members.length + 20 * pairMembers.length,
    ];
    if (batch.length > 0 && (cost + ownCost > COST_LIMIT || bytes + ownBytes > BYTES_LIMIT)) {
      yield batch;
      batch = [];
      [cost, bytes] = [0, 0];
    }
    batch.push(group);
    cost += ownCost;
    bytes += ownBytes;
  }
  if (batch.length > 0) yield batch;
}

/** Rows deleted in one transaction. */
const SWEEP_ROWS = 32;

/**
 * Removes every generation but the one readers see, with the records of groups that are in no
 * other.
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
  const current = currentGeneration(tx);
  const stale = [
    ...tx.range(groups, { end: [current], limit: SWEEP_ROWS }),
    ...tx.range(groups, { start: [current + 1], limit: SWEEP_ROWS }),
  ];
  for (const [[generation, id]] of stale.slice(0, SWEEP_ROWS)) {
    tx.delete(groups, [generation, id]);
    if (!tx.get(groups, [current, id])) tx.delete(decisions, id);
  }
  return stale.length;
}
