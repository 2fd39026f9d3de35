/** Counts over the duplicate groups that readers see. */
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import type { DocumentIndex } from "../documents/index.ts";
import { mostFrequent } from "../documents/statistics.ts";
import type { NameCount } from "../documents/statistics.ts";
import type { GroupIndex, ListedGroup } from "./index.ts";

const SHOWN_CORRESPONDENTS = 10;

/** Confidences from `min` to below `max`; the last one includes its end. */
const CONFIDENCES = [
  { label: "0-50%", min: 0, max: 0.5 },
  { label: "50-75%", min: 0.5, max: 0.75 },
  { label: "75-85%", min: 0.75, max: 0.85 },
  { label: "85-90%", min: 0.85, max: 0.9 },
  { label: "90-95%", min: 0.9, max: 0.95 },
  { label: "95-100%", min: 0.95, max: 1 },
] as const;

export interface GroupStatistics {
  readonly total: number;
  readonly byStatus: ReadonlyMap<GroupStatus, number>;
  readonly confidences: readonly {
    readonly label: string;
    readonly min: number;
    readonly max: number;
    readonly count: number;
  }[];
  /** Correspondents by their pending groups, the most first. */
  readonly correspondents: readonly NameCount[];
  /** Documents in groups that are not deleted. */
  readonly documents: number;
}

export interface GroupStatisticsInput {
  readonly index: Pick<GroupIndex, "listed" | "revision">;
  readonly documents: Pick<DocumentIndex, "correspondent" | "revision">;
}

/** Counts the groups once for each state of groups and documents, whoever calls. */
export function createGroupCounts(input: GroupStatisticsInput): () => Promise<GroupStatistics> {
  let last: { readonly state: string; readonly counted: Promise<GroupStatistics> } | undefined;
  return () => {
    const state = `${input.index.revision} ${input.documents.revision}`;
    if (last?.state !== state) last = { state, counted: countGroups(input) };
    return last.counted;
  };
}

/** The pending groups; counted again only after a change. */
export function createPendingCount(index: Pick<GroupIndex, "listed" | "revision">): () => number {
  let last: { readonly revision: number; readonly count: number } | undefined;
  return () => {
    const { revision } = index;
    if (last?.revision !== revision) {
      let count = 0;
      for (const { status } of index.listed()) if (status === GroupStatus.PENDING) count += 1;
      last = { revision, count };
    }
    return last.count;
  };
}

/** Counts the groups of one moment, giving way to other work. */
async function countGroups({ index, documents }: GroupStatisticsInput): Promise<GroupStatistics> {
  const groups = index.listed();
  const byStatus = new Map<GroupStatus, number>();
  const confidences = CONFIDENCES.map((range) => ({ ...range, count: 0 }));
  const correspondents = new Map<string, number>();
  const involved = new Set<number>();
  const turns = new Turns();
  for (const group of groups) {
    if (turns.over) await turns.give();
    add(byStatus, group.status);
    const range = confidences.findLast(({ min }) => group.confidence >= min);
    if (range !== undefined) range.count += 1;
    if (group.status === GroupStatus.DELETED) continue;
    for (const docNo of group.members) involved.add(docNo);
    if (group.status !== GroupStatus.PENDING) continue;
    for (const name of namesOf(group, documents)) add(correspondents, name);
  }
  return {
    total: groups.length,
    byStatus,
    confidences,
    correspondents: mostFrequent(correspondents, SHOWN_CORRESPONDENTS),
    documents: involved.size,
  };
}

function namesOf(
  { members }: ListedGroup,
  documents: GroupStatisticsInput["documents"],
): ReadonlySet<string> {
  const names = new Set<string>();
  for (const docNo of members) {
    const name = documents.correspondent(docNo);
    if (name !== undefined) names.add(name);
  }
  return names;
}

function add<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
