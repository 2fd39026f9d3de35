/**
 * Pending groups that an analysis did not find again, e.g. with another threshold, although a person
 * had accepted them or chosen what stays. Readers see none of them, and none is in the delete plan.
 * The analysis that finds one again gives it back its id and what was decided.
 */
import type { Env, Snapshot, Tx } from "../../kernel/state/types.ts";
import { decisions, groups } from "../tables.ts";
import { isReviewed } from "./decision.ts";
import type { KnownGroup } from "./identity.ts";
import type { GroupIndex } from "./index.ts";
import type { SliceOptions } from "./steps.ts";
import { readGroup, type Commit } from "./store.ts";

/** Stores their rows. It is in no view: the first analysis writes generation 1. */
export const LOST_GENERATION = 0;

/** Rows forgotten in one transaction. */
const FORGOTTEN_ROWS = 32;

/** Takes a group that was not found again out of the base generation. */
export function loseGroup(tx: Tx, base: number, id: string): void {
  const row = tx.get(groups, [base, id]);
  const decision = tx.get(decisions, id);
  tx.delete(groups, [base, id]);
  if (row && decision && isReviewed(decision)) tx.put(groups, [LOST_GENERATION, id], row);
  else tx.delete(decisions, id);
}

export function isLost(snapshot: Snapshot, id: string): boolean {
  return snapshot.get(groups, [LOST_GENERATION, id]) !== undefined;
}

/** Lost groups as an analysis reads them. */
interface LostGroups {
  readonly groups: readonly KnownGroup[];
  /** Ids of those that cannot be found again, or were before a crash. */
  readonly past: readonly string[];
}

interface LostLookups {
  readonly index: Pick<GroupIndex, "find">;
  /** Whether there is such a document. */
  readonly exists: (docNo: number) => boolean;
}

/** Reads them in slices. */
export async function readLost(
  env: Env,
  { index, exists }: LostLookups,
  { signal, sliceMs = 5 }: SliceOptions,
): Promise<LostGroups> {
  const found: KnownGroup[] = [];
  const past: string[] = [];
  await env.scan(
    groups,
    (batch) => {
      for (const [, { id, members: all }] of batch) {
        const members = all.filter((docNo) => exists(docNo));
        if (members.length < 2 || index.find(id) !== undefined) past.push(id);
        else found.push({ id, members, decided: false, rejected: false });
      }
    },
    { sliceMs, signal, bounds: { prefix: [LOST_GENERATION] } },
  );
  return { groups: found, past };
}

/** Forgets lost groups, and what was decided about those that readers do not see by now. */
export async function forgetLost(commit: Commit, ids: readonly string[]): Promise<void> {
  for (let at = 0; at < ids.length; at += FORGOTTEN_ROWS)
    await commit((tx) => {
      for (const id of ids.slice(at, at + FORGOTTEN_ROWS)) {
        tx.delete(groups, [LOST_GENERATION, id]);
        if (!readGroup(tx, id)) tx.delete(decisions, id);
      }
    });
}
