/** The groups that somebody decided about, in the numbers of a run. */
import type { DecisionRow, GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Env } from "../../kernel/state/types.ts";
import { isDecided, rejectedSets } from "../groups/decision.ts";
import type { KnownGroup } from "../groups/identity.ts";
import type { SliceOptions } from "../groups/steps.ts";
import { decisions, groups } from "../tables.ts";
import type { Numbers } from "./numbers.ts";

/** The store has one generation of groups: each run changes it in place. */
export const GENERATION = 0;

/** A group of the store. */
export interface StoredDecision {
  readonly row: GroupRow;
  readonly decision: DecisionRow;
  /** Its members, as far as the run has read them. */
  readonly known: KnownGroup;
  /** Whether the run has read all its members. */
  readonly complete: boolean;
}

/** What the store holds, as a run sees it. */
export interface KnownDecisions {
  readonly groups: readonly StoredDecision[];
  /** Sets of documents of which no two are duplicates. */
  readonly rejections: readonly (readonly number[])[];
}

/** Reads all groups in slices. */
export async function loadKnown(
  env: Env,
  numbers: Numbers,
  slices: SliceOptions,
): Promise<KnownDecisions> {
  const found: StoredDecision[] = [];
  const rejections: (readonly number[])[] = [];
  const ofRun = (docNos: readonly number[]): number[] =>
    docNos.flatMap((docNo) => numbers.document(docNo) ?? []);
  await env.scan(
    groups,
    (batch) =>
      env.read((snapshot) => {
        for (const [, row] of batch) {
          const decision = snapshot.get(decisions, row.id);
          if (!decision) continue;
          const rejected = rejectedSets(decision, numbers.textHash).map(ofRun);
          rejections.push(...rejected);
          const members = ofRun(row.members).sort((a, b) => a - b);
          found.push({
            row,
            decision,
            known: {
              id: row.id,
              members,
              decided: isDecided(decision),
              rejected: rejected.length > 0,
            },
            complete: members.length === row.members.length,
          });
        }
      }),
    { sliceMs: slices.sliceMs ?? 5, signal: slices.signal, bounds: { prefix: [GENERATION] } },
  );
  return { groups: found, rejections };
}
