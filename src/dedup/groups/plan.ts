/**
 * What the next generation of groups is to be: the found groups under the ids of the known ones
 * they continue, described where something changed, and the decided ones that were not found again.
 */
import type { DecisionRow, DocumentRow, GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Env, Snapshot } from "../../kernel/state/types.ts";
import { decisions, documents } from "../tables.ts";
import { contentOfFindings } from "./content.ts";
import { rejectedSets } from "./decision.ts";
import type { DescribeDeps } from "./describe.ts";
import { describeGroups } from "./describe.ts";
import type { PlannedGroup } from "./generation-writer.ts";
import type { FoundGroup } from "./graph.ts";
import type { KnownGroup } from "./identity.ts";
import type { GroupIndex } from "./index.ts";
import { newGroupId } from "./identity.ts";
import { groupRow, withoutMembers } from "./row.ts";
import type { SliceOptions } from "./steps.ts";
import { createPause } from "./steps.ts";
import { readGroup } from "./store.ts";

/** Decisions "not a duplicate", as an analysis reads them at its start. */
export interface Rejections {
  /** Documents of which no two are duplicates. */
  readonly sets: readonly (readonly number[])[];
  /** Ids of the groups with such a decision. */
  readonly groups: ReadonlySet<string>;
}

/** Reads the rejections of groups that readers see, in slices. */
export async function readRejections(env: Env, slices: SliceOptions): Promise<Rejections> {
  const sets: number[][] = [];
  const rejecting = new Set<string>();
  await env.scan(
    decisions,
    (batch) =>
      env.read((snapshot) => {
        for (const [id, decision] of batch) {
          const rejected = rejectedIn(snapshot, decision);
          if (rejected.length === 0 || !readGroup(snapshot, id)) continue;
          sets.push(...rejected);
          rejecting.add(id);
        }
      }),
    { sliceMs: slices.sliceMs ?? 5, signal: slices.signal },
  );
  return { sets, groups: rejecting };
}

/** The groups that readers see, giving way to other work between slices. */
export async function readKnown(
  env: Env,
  index: Pick<GroupIndex, "listed">,
  slices: SliceOptions,
): Promise<KnownGroup[]> {
  const pause = createPause(slices);
  const known: KnownGroup[] = [];
  for (const { id, members, decided, rejected } of index.listed()) {
    known.push({ id, members, decided, rejected: rejected && isRejecting(env, id) });
    if (known.length % 256 === 0) await pause();
  }
  return known;
}

/** Whether "not a duplicate" still rejects a pair of the group. */
function isRejecting(env: Env, id: string): boolean {
  return env.read((snapshot) => {
    const decision = snapshot.get(decisions, id);
    return decision !== undefined && rejectedIn(snapshot, decision).length > 0;
  });
}

function rejectedIn(snapshot: Snapshot, decision: DecisionRow): number[][] {
  return rejectedSets(decision, (docNo) => snapshot.get(documents, docNo)?.contentHash);
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
  /** When a document was last stored; undefined when it is gone. */
  syncedAtMs(docNo: number): number | undefined;
  /** The generation that is being written. */
  readonly generation: number;
  /** When the documents were read. */
  readonly readAtMs: number;
}

/** When members were stored, and when this analysis read them. */
type Times = Pick<PlanDeps, "syncedAtMs" | "readAtMs">;

/**
 * Whether a found group is what readers see already: the same members, pairs and scores, and no
 * member was stored since it was described.
 */
export function isAsListed(
  { found, known }: Continued,
  index: Pick<GroupIndex, "find">,
  times: Times,
): boolean {
  const listed = known && index.find(known.id);
  return (
    listed !== undefined &&
    !listed.gained &&
    isDescribed(found.members, listed.updatedAtMs, times) &&
    listed.content === contentOfFindings(found)
  );
}

/**
 * Whether the members are as they were when their group was described. A description from the
 * future was made before the clock was set back, and its time compares with none.
 */
function isDescribed(
  members: readonly number[],
  describedAtMs: number,
  { syncedAtMs, readAtMs }: Times,
): boolean {
  return (
    describedAtMs <= readAtMs &&
    members.every((docNo) => (syncedAtMs(docNo) ?? Infinity) < describedAtMs)
  );
}

/** Plans a few found groups: their rows, documents and texts are in memory at once. */
export async function planFound(
  continued: readonly Continued[],
  deps: PlanDeps,
): Promise<PlannedGroup[]> {
  const before = continued.map(({ found, known }) => known && unchangedRow(found, known.id, deps));
  const changed = continued.flatMap(({ found }, index) => (before[index] ? [] : [found]));
  const rows = readRows(changed, deps.env);
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
    if (same) return { row: same, kept: false, isStored: true, change: "none" };
    const { primary = found.members[0] ?? 0, reasons = [] } = descriptions[at++] ?? {};
    const id =
      known?.id ??
      newGroupId(
        deps.generation,
        found.members.map((docNo) => rows.get(docNo)?.id ?? `${docNo}`),
      );
    const row = groupRow(found, {
      id,
      suggestedPrimary: primary,
      reasons,
      gained: false,
      updatedAtMs: deps.readAtMs,
    });
    const change = known ? changeOf(row, known.id, deps.env) : "created";
    return { row, kept: false, isStored: false, change };
  });
}

/** How a group that was described again differs from what readers see. */
function changeOf(row: GroupRow, id: string, env: Env): PlannedGroup["change"] {
  const before = env.read((snapshot) => readGroup(snapshot, id)?.row);
  if (before === undefined) return "created";
  const same =
    sameScores(row, before) &&
    row.suggestedPrimary === before.suggestedPrimary &&
    row.reasons.length === before.reasons.length &&
    row.reasons.every((reason, at) => reason === before.reasons[at]);
  return same ? "none" : "updated";
}

function readRows(found: readonly FoundGroup[], env: Env): Map<number, DocumentRow> {
  return env.read((snapshot) => {
    const rows = new Map<number, DocumentRow>();
    for (const docNo of new Set(found.flatMap(({ members }) => members))) {
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
  deps: Pick<PlanDeps, "env"> & Times,
): GroupRow | undefined {
  const row = deps.env.read((snapshot) => readGroup(snapshot, id)?.row);
  if (!row || row.outdated || !isDescribed(found.members, row.updatedAtMs, deps)) return undefined;
  return sameScores(groupRow(found, row), row) ? row : undefined;
}

/** Whether two rows have the same members, pairs and scores. */
function sameScores(fresh: GroupRow, row: GroupRow): boolean {
  return (
    fresh.algorithmVersion === row.algorithmVersion &&
    fresh.confidence === row.confidence &&
    fresh.jaccard === row.jaccard &&
    fresh.fuzzy === row.fuzzy &&
    fresh.discriminative === row.discriminative &&
    equal(fresh.members, row.members) &&
    equal(fresh.memberTexts, row.memberTexts) &&
    equal(fresh.pairMembers, row.pairMembers) &&
    equal(fresh.pairScores, row.pairScores)
  );
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
        ? withoutMembers(
            group.row,
            new Set(group.row.members.filter((docNo) => !decided.has(docNo))),
            deps.readAtMs,
          )
        : group.row;
      const isStored = row === group.row;
      return [{ row, kept: true, isStored, change: isStored ? "none" : "updated" }];
    }),
  );
}
