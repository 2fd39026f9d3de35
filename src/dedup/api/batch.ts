/** Decisions about many groups, and deleting what is redundant. */
import { BatchService } from "../../gen/steward/dedup/v1/batch_pb.ts";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Jobs, JobType } from "../../kernel/jobs/types.ts";
import { bindService, type BoundService } from "../../kernel/service.ts";
import type { Env, Tx } from "../../kernel/state/types.ts";
import type { Archive } from "../archives/archive.ts";
import type { DeletionInput, DeletionResult } from "../deletion/result.ts";
import { decidedBatches } from "../groups/change-size.ts";
import { statusOf } from "../groups/decision.ts";
import type { GroupIndex } from "../groups/index.ts";
import { deleteGroup, hasStatus, setStatus } from "../groups/review.ts";
import { readGroup, type StoredGroup } from "../groups/store.ts";
import { documents } from "../tables.ts";
import { notInPaperless } from "./archive-of.ts";

export interface BatchApiDeps {
  readonly env: Env;
  readonly index: GroupIndex;
  readonly clock: Clock;
  readonly jobs: Pick<Jobs, "start">;
  readonly job: JobType<DeletionInput, DeletionResult>;
  readonly archives: () => readonly Pick<Archive, "name" | "kind" | "writer">[];
}

/** Ids that a message names. */
const NAMED = 10;

/** All methods of BatchService. */
export function batchHandlers(deps: BatchApiDeps): BoundService {
  return bindService(BatchService, {
    async setGroupStatuses({ groupIds, status }, { signal }) {
      const ids = [...new Set(groupIds)];
      const skipped: { groupId: string; reason: string }[] = [];
      let updated = 0;
      for (const batch of decidedBatches(deps.index, ids)) {
        signal.throwIfAborted();
        const done = await deps.env.write((tx) => batch.map((id) => setOne(deps, tx, id, status)));
        updated += done.filter((one) => one === true).length;
        skipped.push(...done.filter((one) => typeof one === "object"));
      }
      return { data: { updated, skipped } };
    },
    async deleteNonPrimary({ groupIds, merge }, { signal }) {
      const ids = [...new Set(groupIds)];
      await checkGroups(deps, ids, signal);
      return { data: { jobId: (await deps.jobs.start(deps.job, { groupIds: ids, merge })).id } };
    },
    async purgeDeleted(_request, { signal }) {
      const { ids } = deps.index.select(
        { statuses: new Set([GroupStatus.DELETED]) },
        { by: "createdAt", descending: false },
        { offset: 0, limit: Number.MAX_SAFE_INTEGER },
      );
      let purged = 0;
      for (const batch of decidedBatches(deps.index, ids)) {
        signal.throwIfAborted();
        purged += await deps.env.write((tx) => purgeSome(deps, tx, batch));
      }
      return { data: { purged } };
    },
  });
}

/** True for a change, false for none, or why the group is left alone. */
function setOne(
  { index, clock }: BatchApiDeps,
  tx: Tx,
  id: string,
  status: GroupStatus,
): boolean | { groupId: string; reason: string } {
  const group = readGroup(tx, id);
  if (group === undefined) return { groupId: id, reason: "there is no such group" };
  if (hasStatus(group, status)) return false;
  try {
    setStatus(tx, index, { id, status, nowMs: clock.now() });
    return true;
  } catch (error) {
    if (error instanceof StewardError && error.code === "conflict")
      return { groupId: id, reason: error.message };
    throw error;
  }
}

/** How many of these were still deleted, and are forgotten now. */
function purgeSome({ index }: BatchApiDeps, tx: Tx, ids: readonly string[]): number {
  const deleted = ids.filter((id) => {
    const group = readGroup(tx, id);
    return group !== undefined && statusOf(group.row, group.decision) === GroupStatus.DELETED;
  });
  for (const id of deleted) deleteGroup(tx, index, id);
  return deleted.length;
}

/** Throws `invalid` unless all groups are known and pending, `conflict` where nothing is deleted. */
async function checkGroups(
  { env, archives }: BatchApiDeps,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const turns = new Turns();
  const unknown: string[] = [];
  const decided: string[] = [];
  const members = new Map<number, string>();
  for (const id of ids) {
    if (turns.over) await turns.give(signal);
    const group = env.read((snapshot) => readGroup(snapshot, id));
    if (group === undefined) unknown.push(id);
    else if (!isPending(group)) decided.push(id);
    else for (const docNo of group.row.members) members.set(docNo, group.row.id);
  }
  if (unknown.length > 0)
    throw invalid(
      `groupIds must name existing groups; unknown: ${named(unknown)}. GET /api/v1/duplicates lists them`,
    );
  if (decided.length > 0)
    throw invalid(
      `groupIds must name pending groups; ${decided.length} of ${ids.length} are not: ${named(decided)}. Set their status to pending first`,
    );
  await checkArchives(env, members, archives(), signal);
}

function isPending({ row, decision }: StoredGroup): boolean {
  return statusOf(row, decision) === GroupStatus.PENDING;
}

/** Documents looked up in one snapshot. */
const MEMBERS_AT_ONCE = 100;

/** `members`: the documents, each with one of its groups. Groups may have thousands of them. */
async function checkArchives(
  env: Env,
  members: ReadonlyMap<number, string>,
  archives: ReturnType<BatchApiDeps["archives"]>,
  signal: AbortSignal,
): Promise<void> {
  const byName = new Map(archives.map((archive) => [archive.name, archive]));
  const docNos = [...members.keys()];
  const turns = new Turns();
  for (let at = 0; at < docNos.length; at += MEMBERS_AT_ONCE) {
    if (turns.over) await turns.give(signal);
    const wrong = env.read((snapshot) => {
      for (const docNo of docNos.slice(at, at + MEMBERS_AT_ONCE)) {
        const name = snapshot.get(documents, docNo)?.archive;
        if (name !== undefined && byName.get(name)?.writer === undefined) return { docNo, name };
      }
      return undefined;
    });
    if (wrong !== undefined)
      throw notInPaperless(
        `duplicate group "${members.get(wrong.docNo)}" has a document of archive "${wrong.name}"`,
        byName.get(wrong.name)?.kind,
      );
  }
}

function named(ids: readonly string[]): string {
  const shown = ids.slice(0, NAMED).map((id) => JSON.stringify(id.slice(0, 64)));
  return ids.length > NAMED
    ? `${shown.join(", ")} and ${ids.length - NAMED} more`
    : shown.join(", ");
}

function invalid(message: string): StewardError {
  return new StewardError("invalid", message, {
    field: "groupIds",
    details: [{ path: ["groupIds"], message, code: "custom" }],
  });
}
