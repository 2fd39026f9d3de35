/**
 * What the next generation of groups is to be: the found groups under the ids of the known ones
 * they continue, described where something changed, and the decided ones that were not found again.
 */
import type { DocumentRow, GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Env } from "../../kernel/state/types.ts";
import { decisions, documents, groups } from "../tables.ts";
import { isDecided, rejectedMembers } from "./decision.ts";
import type { DescribeDeps } from "./describe.ts";
import { describeGroups } from "./describe.ts";
import { currentGeneration } from "./generations.ts";
import type { PlannedGroup } from "./generation-writer.ts";
import type { FoundGroup } from "./graph.ts";
import type { KnownGroup } from "./identity.ts";
import { newGroupId } from "./identity.ts";
import { groupRow, withoutMember } from "./row.ts";
import type { SliceOptions } from "./steps.ts";
import { readGroup } from "./store.ts";

/** The groups of the present generation. */
export interface Known {
  readonly groups: readonly KnownGroup[];
  /** Sets of documents of which no two are duplicates. */
  readonly rejections: readonly (readonly number[])[];
}

/** Reads the groups that readers see, giving way to other work between slices. */
export async function readKnown(env: Env, slices: SliceOptions): Promise<Known> {
  const known: KnownGroup[] = [];
  const rejections: number[][] = [];
  const generation = env.read(currentGeneration);
  await env.scan(
    groups,
    (batch) =>
      env.read((snapshot) => {
        for (const [, { id, members }] of batch) {
          const decision = snapshot.get(decisions, id);
          if (!decision) continue;
          const rejected = rejectedMembers(
            decision,
            (docNo) => snapshot.get(documents, docNo)?.contentHash,
          );
          if (rejected.length > 0) rejections.push(rejected);
          known.push({ id, members, decided: isDecided(decision), rejected: rejected.length > 0 });
        }
      }),
    { sliceMs: slices.sliceMs ?? 5, signal: slices.signal, bounds: { prefix: [generation] } },
  );
  return { groups: known, rejections };
}

/** A found group and the known one it continues. */
export interface Continued {
  readonly found: FoundGroup;
  readonly known: KnownGroup | undefined;
}

export interface PlanDeps extends Omit<DescribeDeps, "facts" | "text"> {
  readonly env: Env;
  /** The text that belongs to a row as it stands, in UTF-8 under zstd. */
  text(row: DocumentRow): Uint8Array | undefined;
  /** The generation that is being written. */
  readonly generation: number;
  /** When the documents were read. */
  readonly readAtMs: number;
}

/** Plans a few found groups: their rows, documents and texts are in memory at once. */
export async function planFound(
  continued: readonly Continued[],
  deps: PlanDeps,
): Promise<PlannedGroup[]> {
  const rows = readRows(continued, deps.env);
  const before = continued.map(
    ({ found, known }) => known && unchangedRow(found, known.id, rows, deps.env),
  );
  const changed = continued.flatMap(({ found }, index) => (before[index] ? [] : [found]));
  const descriptions = await describeGroups(changed, {
    ...deps,
    facts: (docNo) => rows.get(docNo),
    text: (docNo) => {
      const row = rows.get(docNo);
      return row && deps.text(row);
    },
  });
  let at = 0;
  return continued.map(({ found, known }, index) => {
    const same = before[index];
    if (same) return { row: same, kept: false, change: "none" };
    const { primary = found.members[0] ?? 0, reasons = [] } = descriptions[at++] ?? {};
    const id =
      known?.id ??
      newGroupId(
        deps.generation,
        found.members.map((docNo) => rows.get(docNo)?.id ?? `${docNo}`),
      );
    return {
      row: groupRow(found, {
        id,
        suggestedPrimary: primary,
        reasons,
        gained: false,
        updatedAtMs: deps.readAtMs,
      }),
      kept: false,
      change: known ? "updated" : "created",
    };
  });
}

function readRows(continued: readonly Continued[], env: Env): Map<number, DocumentRow> {
  return env.read((snapshot) => {
    const rows = new Map<number, DocumentRow>();
    for (const docNo of new Set(continued.flatMap(({ found }) => found.members))) {
      const row = snapshot.get(documents, docNo);
      if (row) rows.set(docNo, row);
    }
    return rows;
  });
}

/**
 * The present row, when members, pairs and everything the description was made from are what they
 * were.
 */
function unchangedRow(
  found: FoundGroup,
  id: string,
  rows: ReadonlyMap<number, DocumentRow>,
  env: Env,
): GroupRow | undefined {
  const row = env.read((snapshot) => readGroup(snapshot, id)?.row);
  if (
    !row ||
    found.members.some((docNo) => (rows.get(docNo)?.syncedAtMs ?? Infinity) >= row.updatedAtMs)
  )
    return undefined;
  const fresh = groupRow(found, row);
  const same =
    fresh.algorithmVersion === row.algorithmVersion &&
    fresh.confidence === row.confidence &&
    fresh.jaccard === row.jaccard &&
    fresh.fuzzy === row.fuzzy &&
    fresh.discriminative === row.discriminative &&
    equal(fresh.members, row.members) &&
    equal(fresh.memberTexts, row.memberTexts) &&
    equal(fresh.pairMembers, row.pairMembers) &&
    equal(fresh.pairScores, row.pairScores);
  return same ? row : undefined;
}

function equal(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, index) => Object.is(value, b[index]));
}

/**
 * Plans decided groups that were not found again: as they were, without the members that came after
 * the decision.
 */
export function planKept(
  kept: readonly KnownGroup[],
  deps: Pick<PlanDeps, "env" | "readAtMs">,
): PlannedGroup[] {
  return deps.env.read((snapshot) =>
    kept.flatMap(({ id }) => {
      const group = readGroup(snapshot, id);
      if (!group) return [];
      const decided = new Set(group.decision.decidedMembers);
      const row = group.row.gained
        ? group.row.members
            .filter((docNo) => !decided.has(docNo))
            .reduce((left, docNo) => withoutMember(left, docNo, deps.readAtMs), group.row)
        : group.row;
      return [{ row, kept: true, change: row === group.row ? "none" : "updated" }];
    }),
  );
}
