/**
 * Decisions of people over several runs of the command line, by the rules of the daemon: a group
 * keeps id, decision and primary while it is the same group, and pairs that were decided as "not a
 * duplicate" are no pairs. Documents that a run has not read keep what was decided about them.
 */
import { create } from "@bufbuild/protobuf";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { GroupRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { DecisionRow, GroupRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Env, Tx } from "../../kernel/state/types.ts";
import type { ReportableGroup } from "../analysis/outcome.ts";
import { isAccepted } from "../groups/acceptance.ts";
import { hasNewMembers, isReviewed, newDecision, statusOf } from "../groups/decision.ts";
import { identitySteps, newGroupId } from "../groups/identity.ts";
import { createGroupIndex } from "../groups/index.ts";
import { acceptGroup, setPrimary, setStatus, withdrawGroup } from "../groups/review.ts";
import { planKept } from "../groups/plan.ts";
import { groupRow } from "../groups/row.ts";
import { runInSlices } from "../groups/steps.ts";
import type { SliceOptions } from "../groups/steps.ts";
import { decisions, groups } from "../tables.ts";
import { GENERATION, loadKnown } from "./known.ts";
import type { StoredDecision } from "./known.ts";
import { loadNumbers } from "./numbers.ts";
import type { Numbers, ReviewedCorpus } from "./numbers.ts";

/** What a person says about a group. */
export type ReviewVerdict = "accepted" | "rejected" | "pending";

/** A group of a run with what was decided about it. */
export interface ReviewedGroup {
  readonly group: ReportableGroup;
  /** As in the API. */
  readonly status: GroupStatus;
  /** A person agreed that all members but the primary may go. */
  readonly accepted: boolean;
  /** Whether the primary is a person's choice. */
  readonly chosen: boolean;
  /** Members whose text is another one than when the group was accepted. */
  readonly changed: ReadonlySet<number>;
  /** Some members, or after "not a duplicate" their texts, are new since the group was decided. */
  readonly gained: boolean;
}

/** A way back from a decision. */
export type Undo = () => Promise<ReviewedGroup>;

/** The groups of a run beside the decisions. */
interface Matched {
  readonly groups: readonly ReviewedGroup[];
  /** Groups that were decided and not found again, e.g. since their pairs were rejected. */
  readonly kept: readonly ReviewedGroup[];
}

/** The decisions that concern the documents of a run. */
export interface Decisions {
  /** Sets of documents, by the numbers of the run, of which no two are duplicates. */
  readonly rejections: readonly (readonly number[])[];
  /**
   * The groups of the run with their ids and decisions, in the given order. Stores which members
   * the known ones have now, and forgets those that were not found again and about which nothing
   * stands. Call once.
   */
  match(found: readonly ReportableGroup[]): Promise<Matched>;
  /** Primaries that people chose in groups of any status, by the numbers of the run. */
  chosenPrimaries(): ReadonlySet<number>;
  /** Both resolve when the decision is durable, with the group as it is then. */
  decide(group: ReviewedGroup, verdict: ReviewVerdict): Promise<Decided>;
  choosePrimary(group: ReviewedGroup, document: number): Promise<Decided>;
}

export interface Decided {
  readonly group: ReviewedGroup;
  readonly undo: Undo;
}

export interface DecisionsDeps {
  /** With the tables of `reviewStore`. */
  readonly env: Env;
  readonly corpus: ReviewedCorpus;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Reads the decisions that concern a run. */
export async function loadDecisions(deps: DecisionsDeps): Promise<Decisions> {
  const { env, corpus, clock } = deps;
  const slices: SliceOptions = { clock, signal: deps.signal };
  const numbers = await loadNumbers(env, corpus, slices);
  const known = await loadKnown(env, numbers, slices);
  /** Decided groups that the run has not found. */
  const keptIds = new Set<string>();
  const isGained = ({ id, found }: ReportableGroup, decision: DecisionRow): boolean =>
    hasNewMembers(
      decision,
      found.members.map(numbers.lasting),
      keptIds.has(id) ? undefined : numbers.textHash,
    );
  const show = (group: ReportableGroup): ReviewedGroup => {
    const before = stored(env, group.id);
    if (before === undefined) return undecided(group);
    const { decision } = before;
    return showGroup(group, { decision, gained: isGained(group, decision) }, { corpus, numbers });
  };

  /** Changes a group in one transaction. */
  async function change(
    { group }: ReviewedGroup,
    apply: (tx: Tx, id: string) => void,
  ): Promise<Decided> {
    const { id } = group;
    await numbers.keep(group.found.members);
    const before = stored(env, id);
    await env.write((tx) => {
      const docNos = group.found.members.map(numbers.lasting);
      const gained = before !== undefined && isGained(group, before.decision);
      putRow(tx, rowOf(group, docNos, { gained, nowMs: clock.now() }));
      if (!before) tx.put(decisions, id, newDecision(clock.now()));
      apply(tx, id);
    });
    return {
      group: show(group),
      async undo() {
        await env.write((tx) => restore(tx, id, before));
        return show(group);
      },
    };
  }

  const index = createGroupIndex();
  return {
    rejections: known.rejections,
    async match(found) {
      const ids = await runInSlices(
        identitySteps(
          known.groups.map((one) => one.known),
          found.map((group) => group.found.members),
        ),
        slices,
      );
      const byKnown = new Map(known.groups.map((one) => [one.known, one]));
      const taken = new Set(known.groups.map(({ row }) => row.id));
      const matched = found.map((group, at) => {
        const continued = ids.continues[at];
        const id = continued?.id ?? freeId(group, taken);
        taken.add(id);
        return { group: { ...group, id }, before: continued && byKnown.get(continued) };
      });
      for (const { group, before } of matched)
        if (before)
          await storeMembers(group, before, { env, numbers, isGained, nowMs: clock.now() });
      for (const removed of ids.removed) {
        const before = byKnown.get(removed);
        // A run with another threshold may not find a group that the next one finds again.
        if (before?.complete === true && removed.members.length > 0 && !isReviewed(before.decision))
          await env.write((tx) => restore(tx, removed.id, undefined));
      }
      for (const { row, change: kind } of planKept(ids.kept, { env, readAtMs: clock.now() }))
        if (kind === "updated") await env.write((tx) => putRow(tx, row));
      for (const { id } of ids.kept) keptIds.add(id);
      const kept = ids.kept.flatMap((one) => {
        const before = byKnown.get(one);
        return before && one.members.length > 1 ? [show(reportKept(before, corpus))] : [];
      });
      return { groups: matched.map(({ group }) => show(group)), kept };
    },
    chosenPrimaries: () =>
      new Set(
        known.groups.flatMap(({ row }) => {
          const primary = stored(env, row.id)?.decision.primary;
          return primary === undefined ? [] : (numbers.document(primary) ?? []);
        }),
      ),
    decide: (group, verdict) =>
      change(group, (tx, id) => {
        const nowMs = clock.now();
        const status = verdict === "rejected" ? GroupStatus.FALSE_POSITIVE : GroupStatus.PENDING;
        setStatus(tx, index, { id, status, nowMs });
        if (verdict === "accepted") acceptGroup(tx, index, id, nowMs);
        else if (verdict === "pending") withdrawGroup(tx, index, id, nowMs);
      }),
    choosePrimary: (group, document) =>
      change(group, (tx, id) => {
        const docNo = numbers.lasting(document);
        const documentId = corpus.document(document).ref;
        setPrimary(tx, index, { id, docNo, documentId, nowMs: clock.now() });
      }),
  };
}

type Stored = Pick<StoredDecision, "row" | "decision">;

function stored(env: Env, id: string): Stored | undefined {
  return env.read((snapshot) => {
    const row = snapshot.get(groups, [GENERATION, id]);
    const decision = row && snapshot.get(decisions, id);
    return row && decision ? { row, decision } : undefined;
  });
}

/** An id that no known group has: one may still go by the id of members that it has lost. */
function freeId(group: ReportableGroup, taken: ReadonlySet<string>): string {
  const refs = group.members.map(({ ref }) => ref);
  let { id } = group;
  for (let attempt = 1; taken.has(id); attempt += 1) id = newGroupId(attempt, refs);
  return id;
}

/** The group as it is stored: without its pairs, which every run finds again. */
function rowOf(
  { id, found, reasons, members }: ReportableGroup,
  docNos: readonly number[],
  { gained, nowMs }: { readonly gained: boolean; readonly nowMs: number },
): GroupRow {
  const primary = members.find((member) => member.primary)?.number ?? -1;
  return groupRow(
    { ...found, members: docNos, pairs: [] },
    {
      id,
      suggestedPrimary: docNos[found.members.indexOf(primary)] ?? docNos[0] ?? 0,
      reasons,
      gained,
      updatedAtMs: nowMs,
    },
  );
}

function putRow(tx: Tx, row: GroupRow): void {
  tx.put(groups, [GENERATION, row.id], row);
}

/** What was stored before a change; nothing means that the group is forgotten. */
function restore(tx: Tx, id: string, before: Stored | undefined): void {
  if (before) {
    putRow(tx, before.row);
    tx.put(decisions, id, before.decision);
    return;
  }
  tx.delete(groups, [GENERATION, id]);
  tx.delete(decisions, id);
}

/**
 * Notes which members a known group has now. Members that the run has not read stay: another run
 * may read them.
 */
async function storeMembers(
  group: ReportableGroup,
  { row, known }: StoredDecision,
  {
    env,
    numbers,
    isGained,
    nowMs,
  }: {
    readonly env: Env;
    readonly numbers: Numbers;
    readonly isGained: (group: ReportableGroup, decision: DecisionRow) => boolean;
    readonly nowMs: number;
  },
): Promise<void> {
  const { members } = group.found;
  if (
    members.length === known.members.length &&
    members.every((one, at) => one === known.members[at])
  )
    return;
  await numbers.keep(members.filter((member) => !known.members.includes(member)));
  const present = members.map(numbers.lasting);
  const absent = row.members.filter((docNo) => numbers.document(docNo) === undefined);
  const all = [...present, ...absent];
  await env.write((tx) => {
    const decision = tx.get(decisions, row.id);
    if (!decision) return;
    const fresh = rowOf(group, present, { gained: isGained(group, decision), nowMs });
    const memberTexts = [...fresh.memberTexts, ...absent.map((_, at) => present.length + at)];
    putRow(tx, create(GroupRowSchema, { ...fresh, members: all, memberTexts }));
  });
}

/** A group about which nothing was decided. */
export function undecided(group: ReportableGroup): ReviewedGroup {
  return {
    group,
    status: GroupStatus.PENDING,
    accepted: false,
    chosen: false,
    gained: false,
    changed: new Set(),
  };
}

function showGroup(
  group: ReportableGroup,
  { decision, gained }: { readonly decision: DecisionRow; readonly gained: boolean },
  { corpus, numbers }: { readonly corpus: ReviewedCorpus; readonly numbers: Numbers },
): ReviewedGroup {
  const members = group.found.members.map(numbers.lasting);
  const chosen = decision.primary === undefined ? undefined : numbers.document(decision.primary);
  const isChosen = chosen !== undefined && group.found.members.includes(chosen);
  const accepted = isAccepted({ members, gained }, decision);
  const agreed =
    accepted && decision.acceptedPrimary !== undefined
      ? numbers.document(decision.acceptedPrimary)
      : undefined;
  const primary = [chosen, agreed].find(
    (number) => number !== undefined && group.found.members.includes(number),
  );
  return {
    group: primary === undefined ? group : withPrimary(group, primary),
    status: statusOf({ gained }, decision),
    accepted,
    chosen: isChosen,
    changed: accepted ? changedMembers(group, decision, corpus, numbers) : new Set(),
    gained,
  };
}

/** A group that the run has not found, from what is stored of it. */
function reportKept({ row, known }: StoredDecision, corpus: ReviewedCorpus): ReportableGroup {
  const { confidence, jaccard = Number.NaN, fuzzy = Number.NaN, reasons } = row;
  const scores = {
    confidence,
    jaccard,
    fuzzy,
    discriminative: row.discriminative ?? Number.NaN,
  };
  const members = known.members.map((number, at) => {
    const { ref, title, wordCount, truncated, hardLink } = corpus.document(number);
    return { number, ref, title, wordCount, truncated, hardLink, primary: at === 0 };
  });
  const texts = [...known.members.keys()];
  const found = {
    members: known.members,
    texts,
    ranks: texts,
    pairs: [],
    scores,
    verified: 0,
  };
  return { id: row.id, ...scores, members, reasons, pairs: 0, found };
}

function withPrimary(group: ReportableGroup, primary: number): ReportableGroup {
  const members = group.members.map((member) => ({
    ...member,
    primary: member.number === primary,
  }));
  return {
    ...group,
    members: members.toSorted(
      (a, b) => Number(b.primary) - Number(a.primary) || (a.ref < b.ref ? -1 : 1),
    ),
  };
}

function changedMembers(
  { found }: ReportableGroup,
  { acceptedMembers, acceptedHashes }: DecisionRow,
  corpus: ReviewedCorpus,
  numbers: Numbers,
): Set<number> {
  const hashes = new Map(acceptedMembers.map((docNo, at) => [docNo, acceptedHashes[at]]));
  return new Set(
    found.members.filter((member) => {
      const accepted = hashes.get(numbers.lasting(member));
      const present = corpus.textHash(member);
      return !accepted || !present || Buffer.compare(accepted, present) !== 0;
    }),
  );
}
