/**
 * The deletion of redundant documents: a plan by the rule of the delete plan, recorded before the
 * first document goes; each document on its own; then the groups and the store. Killed at any
 * moment, the next start goes on with the recorded plan: a document that went without a record of
 * it is missing from the archive, which counts as done.
 */
import { create } from "@bufbuild/protobuf";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { DeletionOutcome, DeletionRowSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import { createLingering } from "../../kernel/async/lingering.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { JobContext, JobType } from "../../kernel/jobs/types.ts";
import type { DocumentStore } from "../documents/store.ts";
import { statusOf } from "../groups/decision.ts";
import type { Membership } from "../groups/membership.ts";
import { setStatus } from "../groups/review.ts";
import { primaryOf } from "../groups/row.ts";
import { readGroup, type Commit, type StoredGroup } from "../groups/store.ts";
import { metaNumber, setMetaNumber } from "../meta.ts";
import { createBrake } from "../paperless/brake.ts";
import {
  collectGroups,
  describeStored,
  judge,
  type PlanSelection,
  type StoredPlanDeps,
} from "../plan/stored-plan.ts";
import { deletionInput, isGone, resultOf } from "./result.ts";
import type { DeletionInput, DeletionResult } from "./result.ts";
import { clearPlans, putOutcome, readPlan, recordPlan, rowsOf } from "./rows.ts";
import type { PlannedDeletion } from "./rows.ts";
import { deleteDocument, type StepDeps, type StepResult } from "./step.ts";
import { documents } from "../tables.ts";

export interface DeletionDeps extends Omit<StoredPlanDeps, "documents">, StepDeps {
  readonly documents: DocumentStore;
  readonly groups: Pick<Membership, "forgetMembers" | "leaveGroups">;
  readonly clock: Clock;
}

/** For a document that is being deleted when the job is cancelled or the process stops. */
const STEP_GRACE_MS = 5_000;
/** Documents removed from the store in one transaction, each taken out of its groups. */
const REMOVED_AT_ONCE = 16;
const NOT_TRIED: StepResult = {
  outcome: DeletionOutcome.SKIPPED,
  reason: "was not tried, since the archive failed or refused others before",
};
/** The cursor of a job whose plan is recorded. */
const RECORDED = Uint8Array.of(1);

export function createDeletionJob(deps: DeletionDeps): JobType<DeletionInput, DeletionResult> {
  return {
    type: "delete_non_primary",
    exclusive: "delete_non_primary",
    onCrash: "resume",
    input: deletionInput,
    phases: { plan: 0.1, delete: 0.85, finish: 0.05 },
    run: (job) => runDeletion(deps, job),
  };
}

async function runDeletion(
  deps: DeletionDeps,
  job: JobContext<DeletionInput>,
): Promise<DeletionResult> {
  if (job.resume() === undefined) await makePlan(deps, job);
  const plan = readPlan(deps.env, job.id);
  job.keepWhenCancelled(() => resultOf(plan, { deleted: 0, pending: job.input.groupIds }));
  await deleteAll(deps, job, plan);
  const finished = await finish(deps, job, plan);
  // The result is built from what is in memory: a kill from here on leaves rows that the next
  // deletion clears.
  const failure = plan.find(({ row }) => row.outcome === DeletionOutcome.FAILED);
  if (failure !== undefined && !plan.some(({ row }) => isGone(row.outcome)))
    throw new StewardError(
      "upstream",
      `no document was deleted: document ${failure.row.paperlessId} ${failure.row.reason}`,
    );
  return resultOf(plan, finished);
}

/** Records what is to go. A run that was killed here begins anew. */
async function makePlan(deps: DeletionDeps, job: JobContext<DeletionInput>): Promise<void> {
  const { signal, input } = job;
  job.phase("plan").step(0, "planning");
  const commit: Commit = (change) => job.commit(change);
  await clearPlans(commit);
  const collected = await collectGroups(deps.env, selectionOf(input.groupIds), signal);
  const plan = await judge(deps, collected, describeStored, signal);
  await recordPlan(commit, job.id, rowsOf(plan, collected.facts));
  await job.commit(() => undefined, RECORDED);
}

/** The primaries of all other pending groups stay. */
function selectionOf(ids: readonly string[]): PlanSelection {
  return {
    ids,
    isSelected: ({ row, decision }) => statusOf(row, decision) === GroupStatus.PENDING,
    changedIn: () => () => false,
    primaryKept: ({ row, decision }) => primaryOf(row, decision),
  };
}

async function deleteAll(
  deps: DeletionDeps,
  job: JobContext<DeletionInput>,
  plan: PlannedDeletion[],
): Promise<void> {
  const phase = job.phase("delete", plan.length);
  const brake = createBrake();
  for (const [at, { number, row }] of plan.entries()) {
    if (row.outcome === DeletionOutcome.PLANNED) {
      job.signal.throwIfAborted();
      const { error, ...result } = brake.isOn ? NOT_TRIED : await deleteOne(deps, row, job);
      if (result.outcome !== DeletionOutcome.SKIPPED) brake.next(error);
      const done = { number, row: create(DeletionRowSchema, { ...row, ...result }) };
      plan[at] = done;
      // Not the job's own commit, which a cancelled job is refused: what is gone is recorded.
      await deps.env.write((tx) => {
        putOutcome(tx, job.id, done);
        if (result.outcome === DeletionOutcome.DELETED)
          setMetaNumber(tx, "documentsDeleted", (metaNumber(tx, "documentsDeleted") ?? 0) + 1);
      });
    }
    phase.step(at + 1, `${at + 1} of ${plan.length} documents`);
  }
}

/** Begun, it is not cut off by a cancel: nobody would know whether the document is gone. */
async function deleteOne(
  deps: DeletionDeps,
  row: PlannedDeletion["row"],
  { input, signal }: JobContext<DeletionInput>,
): Promise<StepResult> {
  using step = createLingering(deps.clock, signal, STEP_GRACE_MS);
  return await deleteDocument(deps, row, input.merge, step.signal);
}

/** Gives the groups their status, then takes the documents that are gone out of the store. */
async function finish(
  { env, index, groups, documents: store, clock }: DeletionDeps,
  job: JobContext<DeletionInput>,
  plan: readonly PlannedDeletion[],
): Promise<{ readonly deleted: number; readonly pending: readonly string[] }> {
  const gone = new Set(plan.flatMap(({ row }) => (isGone(row.outcome) ? [row.docNo] : [])));
  const phase = job.phase("finish", job.input.groupIds.length + gone.size);
  const pending: string[] = [];
  let deleted = 0;
  for (const [at, id] of job.input.groupIds.entries()) {
    const state = env.read((snapshot) => stateOf(readGroup(snapshot, id), gone));
    if (state === "all gone")
      await job.commit(
        (tx) => void setStatus(tx, index, { id, status: GroupStatus.DELETED, nowMs: clock.now() }),
        RECORDED,
      );
    if (state === "pending") pending.push(id);
    if (state === "all gone" || state === "deleted") deleted += 1;
    phase.step(at + 1, "updating groups");
  }
  const docNos = [...gone];
  const commit: Commit = (change) => job.commit(change, RECORDED);
  for (let at = 0; at < docNos.length; at += REMOVED_AT_ONCE) {
    const some = docNos.slice(at, at + REMOVED_AT_ONCE);
    await groups.leaveGroups({ env, commit }, some, clock.now());
    await commit((tx) => {
      const left = some.filter((docNo) => tx.get(documents, docNo) !== undefined);
      groups.forgetMembers(tx, left, clock.now());
      for (const docNo of left) store.remove(tx, docNo);
    });
    await store.dropTexts(some);
    phase.step(job.input.groupIds.length + at + some.length, "removing documents");
  }
  return { deleted, pending };
}

/** What becomes of a group; undefined for one with another verdict, or none. */
function stateOf(
  group: StoredGroup | undefined,
  gone: ReadonlySet<number>,
): "all gone" | "pending" | "deleted" | undefined {
  if (group === undefined) return undefined;
  const { row, decision } = group;
  const status = statusOf(row, decision);
  if (status === GroupStatus.DELETED) return "deleted";
  if (status !== GroupStatus.PENDING) return undefined;
  const primary = primaryOf(row, decision);
  return row.members.every((docNo) => docNo === primary || gone.has(docNo))
    ? "all gone"
    : "pending";
}
