/**
 * The delete plan of groups in the store, by the rule of `rule.ts`: of the accepted ones, or of
 * others that a caller selects. Documents stay that are in an ignored group: those who ignored it
 * wanted all of them. Yields to other work: each group, and each few of its members, are read in a
 * snapshot of their own.
 */
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import { Turns } from "../../kernel/async/turns.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { Env, Snapshot } from "../../kernel/state/types.ts";
import type { AnalysisParameters } from "../analysis/parameters.ts";
import type { DocumentStore } from "../documents/store.ts";
import { isAccepted } from "../groups/acceptance.ts";
import { rejectedSets, statusOf } from "../groups/decision.ts";
import { currentView, type GroupView } from "../groups/generations.ts";
import type { GroupIndex } from "../groups/index.ts";
import { primaryOf, verifiedWith } from "../groups/row.ts";
import { runInTurns } from "../groups/steps.ts";
import { indexedGroups, readGroup, type StoredGroup } from "../groups/store.ts";
import { documents } from "../tables.ts";
import { createRejections } from "../review/rejections.ts";
import {
  pairSteps,
  planSteps,
  type PlanDocument,
  type PlanGroup,
  type PlannedDocument,
  type RetainedDocument,
} from "./rule.ts";
import { scorePairs, type Pair } from "./score-pairs.ts";

export interface StoredPlanDeps {
  readonly env: Env;
  readonly index: GroupIndex;
  readonly documents: Pick<DocumentStore, "text">;
  readonly pool: Pool;
  readonly parameters: () => AnalysisParameters;
}

/** What is known of a document of the plan. */
export type StoredFacts = Pick<
  DocumentRow,
  | "docNo"
  | "id"
  | "contentHash"
  | "truncated"
  | "archive"
  | "archiveRef"
  | "paperlessId"
  | "fingerprint"
  | "pending"
>;

export interface StoredPlan {
  /** The groups that were judged, in the order of their selection. */
  readonly groups: readonly PlanGroup[];
  readonly primaries: ReadonlySet<number>;
  /** By document number. */
  readonly go: ReadonlyMap<number, PlannedDocument>;
  readonly retained: ReadonlyMap<number, RetainedDocument>;
}

/** What the rule is told of a document besides what is stored; e.g. of its file. */
export type DescribeDocument = (facts: StoredFacts) => PlanDocument;

/** Groups judged together; what goes by several of them is decided in their order. */
const GROUPS_AT_ONCE = 200;

/** Members of a group that are read at a time. */
const MEMBERS_AT_ONCE = 200;

/** Whether the whole present text was compared: only then may it go, or others for it. */
export function describeStored({
  truncated,
  pending,
}: Pick<StoredFacts, "truncated" | "pending">): PlanDocument {
  if (!truncated && !pending) return {};
  const reason = pending
    ? "has a text that was not analysed yet"
    : "was compared by the beginning of its text only";
  return { held: reason, unfit: reason };
}

/** Which groups a plan is made for, and what the other groups of their members keep. */
export interface PlanSelection {
  /** In the order of preference. */
  readonly ids: readonly string[];
  /** Whether a group is still to be judged. */
  readonly isSelected: (group: StoredGroup) => boolean;
  /** For a group: whether a member has another text than when the group was selected. */
  readonly changedIn: (group: StoredGroup) => (facts: StoredFacts) => boolean;
  /** The primary that stays because of a pending group that is not selected. */
  readonly primaryKept: (group: StoredGroup) => number | undefined;
}

/** What selected groups say before any document is judged. */
export interface Collected {
  readonly groups: readonly PlanGroup[];
  readonly facts: ReadonlyMap<number, StoredFacts>;
  readonly stays: ReadonlySet<number>;
  /** Sets of documents of which no two are duplicates. */
  readonly rejections: readonly (readonly number[])[];
  /** By `document primary`. */
  readonly verified: ReadonlyMap<string, PairScores>;
}

/** Rejects with the signal's reason. */
export async function makeStoredPlan(
  deps: StoredPlanDeps,
  signal: AbortSignal,
): Promise<StoredPlan> {
  return await judge(deps, await collectAccepted(deps, signal), describeStored, signal);
}

/**
 * Reads the accepted groups, the one found first at the top. Primaries that a person chose elsewhere
 * stay. Rejects with the signal's reason.
 */
export async function collectAccepted(
  deps: StoredPlanDeps,
  signal: AbortSignal,
): Promise<Collected> {
  const { ids } = deps.index.select(
    { statuses: new Set([GroupStatus.PENDING]), accepted: true },
    { by: "createdAt", descending: false },
    { offset: 0, limit: Number.MAX_SAFE_INTEGER },
  );
  const selection: PlanSelection = {
    ids,
    isSelected: ({ row, decision }) => isAccepted(row, decision),
    changedIn({ decision }) {
      const hashes = acceptedHashes(decision);
      return ({ docNo, contentHash }) => !sameBytes(hashes.get(docNo), contentHash);
    },
    primaryKept: ({ row, decision }) =>
      decision.primary === undefined ? undefined : (primaryOf(row, decision) ?? decision.primary),
  };
  return await collectGroups(deps.env, selection, signal);
}

/** Reads the selected groups. Rejects with the signal's reason. */
export async function collectGroups(
  env: Env,
  selection: PlanSelection,
  signal: AbortSignal,
): Promise<Collected> {
  const collected = {
    groups: [] as PlanGroup[],
    facts: new Map<number, StoredFacts>(),
    stays: new Set<number>(),
    rejections: [] as number[][],
    verified: new Map<string, PairScores>(),
  };
  const selected = new Set(selection.ids);
  const elsewhere = new Set<string>();
  const turns = new Turns();
  for (const id of selected) {
    if (turns.over) await turns.give(signal);
    const group = env.read((snapshot) => readGroup(snapshot, id));
    if (group !== undefined && selection.isSelected(group))
      await collectGroup(env, group, { collected, selection, elsewhere, turns, signal });
  }
  for (const id of elsewhere) {
    if (turns.over) await turns.give(signal);
    env.read((snapshot) => collectElsewhere(snapshot, id, { collected, selection, selected }));
  }
  return collected;
}

interface Collecting {
  readonly groups: PlanGroup[];
  readonly facts: Map<number, StoredFacts>;
  readonly stays: Set<number>;
  readonly rejections: number[][];
  readonly verified: Map<string, PairScores>;
}

async function collectGroup(
  env: Env,
  group: StoredGroup,
  {
    collected: { groups, facts, rejections, verified },
    selection,
    elsewhere,
    turns,
    signal,
  }: {
    readonly collected: Collecting;
    readonly selection: PlanSelection;
    readonly elsewhere: Set<string>;
    readonly turns: Turns;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { row, decision } = group;
  const { id } = row;
  const primary = primaryOf(row, decision) ?? -1;
  const changed = new Set<number>();
  const isChanged = selection.changedIn(group);
  const members: number[] = [];
  const collectMember = (snapshot: Snapshot, view: GroupView, docNo: number): void => {
    const stored = facts.get(docNo) ?? factsOf(snapshot, docNo);
    if (stored === undefined) return;
    facts.set(docNo, stored);
    members.push(docNo);
    if (isChanged(stored)) changed.add(docNo);
    for (const other of indexedGroups(snapshot, view, docNo))
      if (other !== id) elsewhere.add(other);
  };
  for (let at = 0; at < row.members.length; at += MEMBERS_AT_ONCE) {
    if (turns.over) await turns.give(signal);
    const some = row.members.slice(at, at + MEMBERS_AT_ONCE);
    env.read((snapshot) => {
      const view = currentView(snapshot);
      for (const docNo of some) collectMember(snapshot, view, docNo);
    });
  }
  if (!members.includes(primary)) return;
  for (const [docNo, scores] of verifiedWith(row, primary))
    verified.set(`${docNo} ${primary}`, scores);
  // A verdict that is suspended because the group has grown still holds for its pairs.
  rejections.push(...rejectedSets(decision, (docNo) => facts.get(docNo)?.contentHash));
  groups.push({ id, primary, members, changed });
}

/** What another group says of documents that are in the plan as well. */
function collectElsewhere(
  snapshot: Snapshot,
  id: string,
  {
    collected: { facts, stays, rejections },
    selection,
    selected,
  }: {
    readonly collected: Collecting;
    readonly selection: PlanSelection;
    readonly selected: ReadonlySet<string>;
  },
): void {
  const group = readGroup(snapshot, id);
  if (group === undefined || (selected.has(id) && selection.isSelected(group))) return;
  const { row, decision } = group;
  // The index also names groups that a document of the plan has left.
  if (!row.members.some((docNo) => facts.has(docNo))) return;
  const status = statusOf(row, decision);
  if (status === GroupStatus.IGNORED) for (const docNo of row.members) stays.add(docNo);
  const kept = status === GroupStatus.PENDING ? selection.primaryKept(group) : undefined;
  if (kept !== undefined) stays.add(kept);
  rejections.push(...rejectedSets(decision, (docNo) => facts.get(docNo)?.contentHash));
}

function factsOf(snapshot: Snapshot, number: number): StoredFacts | undefined {
  const row = snapshot.get(documents, number);
  if (row === undefined) return undefined;
  const { docNo, id, contentHash, truncated, archive, archiveRef, fingerprint, pending } = row;
  const { paperlessId } = row;
  return {
    docNo,
    id,
    contentHash,
    truncated,
    archive,
    archiveRef,
    fingerprint,
    pending,
    ...(paperlessId === undefined ? {} : { paperlessId }),
  };
}

function acceptedHashes({
  acceptedMembers,
  acceptedHashes,
}: StoredGroup["decision"]): ReadonlyMap<number, Uint8Array | undefined> {
  return new Map(acceptedMembers.map((docNo, at) => [docNo, acceptedHashes[at]]));
}

/** Documents without text are never the same. */
function sameBytes(a: Uint8Array | undefined, b: Uint8Array): boolean {
  return a !== undefined && a.length > 0 && Buffer.compare(a, b) === 0;
}

/** Applies the rule, a few groups at a time. Pairs that are not scored yet are scored first. */
export async function judge(
  deps: StoredPlanDeps,
  collected: Collected,
  describe: DescribeDocument,
  signal: AbortSignal,
): Promise<StoredPlan> {
  const { groups, facts, verified } = collected;
  const primaries = new Set(groups.map(({ primary }) => primary));
  const stays = new Set([...collected.stays, ...primaries]);
  const isRejected = createRejections(collected.rejections);
  const document = (docNo: number): PlanDocument => {
    const known = facts.get(docNo);
    return known === undefined ? { held: "is gone", unfit: "is gone" } : describe(known);
  };
  const scored = new Map(verified);
  const go = new Map<number, PlannedDocument>();
  const retained = new Map<number, RetainedDocument>();
  const turns = new Turns();
  for (let at = 0; at < groups.length; at += GROUPS_AT_ONCE) {
    if (turns.over) await turns.give(signal);
    const rule = { groups: groups.slice(at, at + GROUPS_AT_ONCE), stays, document };
    const isOpen = (a: number, b: number): boolean => !scored.has(`${a} ${b}`) && !isRejected(a, b);
    const open = await runInTurns(pairSteps(rule, isOpen), turns, signal);
    for (const [index, scores] of (await scoreOpen(deps, open, facts, signal)).entries())
      if (scores !== undefined) scored.set(open[index]?.join(" ") ?? "", scores);
    const scores = (a: number, b: number): PairScores | undefined =>
      isRejected(a, b) ? undefined : scored.get(`${a} ${b}`);
    const judged = await runInTurns(planSteps({ ...rule, scores }), turns, signal);
    for (const each of judged.go) {
      if (turns.over) await turns.give(signal);
      if (each.scores.confidence > (go.get(each.document)?.scores.confidence ?? -1))
        go.set(each.document, each);
    }
    for (const each of judged.retained)
      if (!retained.has(each.document)) retained.set(each.document, each);
  }
  for (const docNo of go.keys()) retained.delete(docNo);
  return { groups, primaries, go, retained };
}

async function scoreOpen(
  { documents, pool, parameters }: StoredPlanDeps,
  pairs: readonly Pair[],
  facts: ReadonlyMap<number, StoredFacts>,
  signal: AbortSignal,
): Promise<readonly (PairScores | undefined)[]> {
  if (pairs.length === 0) return [];
  return await scorePairs({
    pairs,
    text: (docNo) => {
      const known = facts.get(docNo);
      return known && documents.text(known);
    },
    textHash: (docNo) => facts.get(docNo)?.contentHash,
    parameters: parameters(),
    pool,
    signal,
  });
}
