/** The recorded plan of a deletion: one row a document, written before the first one goes. */
import { create } from "@bufbuild/protobuf";
import { DeletionOutcome, DeletionRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DeletionRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Commit } from "../groups/store.ts";
import type { Env, Tx } from "../../kernel/state/types.ts";
import type { StoredPlan, StoredFacts } from "../plan/stored-plan.ts";
import { deletions } from "../tables.ts";

/** Rows of one transaction. */
const ROWS_AT_ONCE = 500;

export interface PlannedDeletion {
  readonly number: number;
  readonly row: DeletionRow;
}

/** Rows of what goes and of what stays although its group was selected, group by group. */
export function rowsOf(
  { groups, go, retained, primaries }: StoredPlan,
  facts: ReadonlyMap<number, StoredFacts>,
): DeletionRow[] {
  const seen = new Set<number>();
  return groups.flatMap(({ id, members, primary }) =>
    members.flatMap((docNo) => {
      const known = facts.get(docNo);
      if (docNo === primary || known === undefined || seen.has(docNo)) return [];
      seen.add(docNo);
      const planned = go.get(docNo);
      const kept = planned === undefined ? undefined : facts.get(planned.keep);
      const base = {
        groupId: planned?.group ?? id,
        docNo,
        documentId: known.id,
        paperlessId: known.paperlessId ?? 0,
        archive: known.archive,
        fingerprint: known.fingerprint,
      };
      if (planned !== undefined && kept !== undefined)
        return create(DeletionRowSchema, {
          ...base,
          keepDocNo: kept.docNo,
          keepDocumentId: kept.id,
          keepContentHash: kept.contentHash,
          outcome: DeletionOutcome.PLANNED,
        });
      const reason = primaries.has(docNo)
        ? "is the primary of another group"
        : (retained.get(docNo)?.reason ?? "is left out");
      return create(DeletionRowSchema, { ...base, outcome: DeletionOutcome.SKIPPED, reason });
    }),
  );
}

/** Stores the rows of a job. */
export async function recordPlan(
  commit: Commit,
  job: string,
  rows: readonly DeletionRow[],
): Promise<void> {
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
    await commit((tx) => {
      for (const [index, row] of rows.slice(at, at + ROWS_AT_ONCE).entries())
        tx.put(deletions, [job, at + index], row);
    });
}

/** The rows of a job in the order of its plan. */
export function readPlan(env: Env, job: string): PlannedDeletion[] {
  return env.read((snapshot) =>
    [...snapshot.range(deletions, { prefix: [job] })].map(([[, number], row]) => ({ number, row })),
  );
}

export function putOutcome(tx: Tx, job: string, { number, row }: PlannedDeletion): void {
  tx.put(deletions, [job, number], row);
}

/** Forgets the plans of jobs that have ended. */
export async function clearPlans(commit: Commit): Promise<void> {
  const clearSome = async (): Promise<number> => {
    let cleared = 0;
    await commit((tx) => {
      const keys = [...tx.range(deletions, { limit: ROWS_AT_ONCE })].map(([key]) => key);
      for (const key of keys) tx.delete(deletions, key);
      cleared = keys.length;
    });
    return cleared;
  };
  while ((await clearSome()) === ROWS_AT_ONCE);
}
