/** The delete plan over the API: accepting groups, withdrawing them, and what would be deleted. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  DeletePlanService,
  type GetDeletePlanRequest,
  type GetDeletePlanResponseSchema,
  type PlanDocumentSchema,
  type PlannedDocumentSchema,
  type PlannedGroupSchema,
} from "../../gen/steward/dedup/v1/delete_plan_pb.ts";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import { mapInTurns, Turns } from "../../kernel/async/turns.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { bindService, type BoundService } from "../../kernel/service.ts";
import type { Env, Snapshot, Tx } from "../../kernel/state/types.ts";
import { decidedBatches } from "../groups/change-size.ts";
import type { GroupFilter, GroupIndex } from "../groups/index.ts";
import { acceptGroup, withdrawGroup } from "../groups/review.ts";
import { readGroup, type StoredGroup } from "../groups/store.ts";
import type { PlanGroup } from "../plan/rule.ts";
import { makeStoredPlan, type StoredPlan, type StoredPlanDeps } from "../plan/stored-plan.ts";
import { documents } from "../tables.ts";

export interface DeletePlanApiDeps extends StoredPlanDeps {
  readonly clock: Clock;
}

/** Groups of exact copies accepted in one call. */
const COPIES_AT_ONCE = 1_000;
/** Documents of a group in one answer, and of all its groups together. */
const SHOWN_OF_GROUP = 100;
const SHOWN_OF_ALL = 1_000;

const COPIES: GroupFilter = {
  statuses: new Set([GroupStatus.PENDING]),
  accepted: false,
  minConfidence: 1,
};

/** All methods of DeletePlanService. */
export function deletePlanHandlers(deps: DeletePlanApiDeps): BoundService {
  return bindService(DeletePlanService, {
    getDeletePlan: (request, { signal }) => readPlan(deps, request, signal),
    acceptGroups: async ({ groupIds }, { signal }) => ({
      data: { groupIds: await changeGroups(deps, groupIds, acceptGroup, signal) },
    }),
    withdrawGroups: async ({ groupIds }, { signal }) => ({
      data: { groupIds: await changeGroups(deps, groupIds, withdrawGroup, signal) },
    }),
    async acceptExactCopies(_request, { signal }) {
      const { ids, more } = await findExactCopies(deps, signal);
      return { data: { groupIds: await changeGroups(deps, ids, acceptExactCopies, signal), more } };
    },
  });
}

/** The ids of the groups that were changed. Each transaction holds a few of them. */
async function changeGroups(
  { env, index, clock }: DeletePlanApiDeps,
  ids: readonly string[],
  change: (tx: Tx, index: GroupIndex, id: string, nowMs: number) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const changed: string[] = [];
  for (const some of decidedBatches(index, ids)) {
    signal.throwIfAborted();
    changed.push(
      ...(await env.write((tx) => some.filter((id) => change(tx, index, id, clock.now())))),
    );
  }
  return changed;
}

/** Pending groups outside the plan whose members have one whole text. Yields to other work. */
async function findExactCopies(
  { env, index }: DeletePlanApiDeps,
  signal: AbortSignal,
): Promise<{ readonly ids: readonly string[]; readonly more: boolean }> {
  const found: string[] = [];
  const turns = new Turns();
  for (const id of allIds(index, COPIES)) {
    if (turns.over) await turns.give(signal);
    if (!env.read((snapshot) => isExactCopies(snapshot, readGroup(snapshot, id)))) continue;
    if (found.length === COPIES_AT_ONCE) return { ids: found, more: true };
    found.push(id);
  }
  return { ids: found, more: false };
}

/** A text may have changed since the group was found. */
function acceptExactCopies(tx: Tx, index: GroupIndex, id: string, nowMs: number): boolean {
  return isExactCopies(tx, readGroup(tx, id)) && acceptGroup(tx, index, id, nowMs);
}

function isExactCopies(snapshot: Snapshot, group: StoredGroup | undefined): boolean {
  if (group === undefined || new Set(group.row.memberTexts).size !== 1) return false;
  const [first, ...others] = group.row.members.map((docNo) => snapshot.get(documents, docNo));
  const isWhole = (row: DocumentRow | undefined): row is DocumentRow =>
    row !== undefined && !row.truncated && row.contentHash.length > 0;
  return (
    isWhole(first) &&
    others.every((row) => isWhole(row) && Buffer.compare(row.contentHash, first.contentHash) === 0)
  );
}

function allIds(index: GroupIndex, filter: GroupFilter): readonly string[] {
  const page = { offset: 0, limit: Number.MAX_SAFE_INTEGER };
  return index.select(filter, { by: "createdAt", descending: false }, page).ids;
}

async function readPlan(
  deps: DeletePlanApiDeps,
  request: GetDeletePlanRequest,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof GetDeletePlanResponseSchema>> {
  const page = { offset: request.offset, limit: request.limit ?? 50 };
  const plan = await makeStoredPlan(deps, signal);
  const groups = plan.groups.slice(page.offset, page.offset + page.limit);
  const shown = Math.min(SHOWN_OF_GROUP, Math.floor(SHOWN_OF_ALL / groups.length));
  const turns = new Turns();
  const views = await mapInTurns(groups, turns, (group) =>
    showGroup(deps.env, group, { plan, shown }),
  );
  return {
    data: { groups: views.flat() },
    meta: {
      total: plan.groups.length,
      ...page,
      deletedCount: plan.go.size,
      primaryCount: plan.primaries.size,
      leftOutCount: plan.retained.size,
    },
  };
}

function showGroup(
  env: Env,
  { id, primary, members }: PlanGroup,
  { plan, shown }: { readonly plan: StoredPlan; readonly shown: number },
): MessageInitShape<typeof PlannedGroupSchema>[] {
  const others = members.filter((docNo) => docNo !== primary);
  return env.read((snapshot) => {
    const group = readGroup(snapshot, id);
    if (group === undefined) return [];
    const kept = snapshot.get(documents, primary);
    return [
      {
        groupId: id,
        confidenceScore: group.row.confidence,
        acceptedAt: timestampFromMs(group.decision.acceptedAtMs ?? group.decision.updatedAtMs),
        ...(kept === undefined ? {} : { primary: showDocument(kept) }),
        documents: others.slice(0, shown).flatMap((docNo) => showMember(snapshot, docNo, plan)),
        documentCount: others.length,
      },
    ];
  });
}

function showMember(
  snapshot: Snapshot,
  docNo: number,
  { go, retained, primaries }: StoredPlan,
): MessageInitShape<typeof PlannedDocumentSchema>[] {
  const row = snapshot.get(documents, docNo);
  if (row === undefined) return [];
  const document = showDocument(row);
  const planned = go.get(docNo);
  if (planned !== undefined) {
    const { scores, group } = planned;
    return [{ document, deleted: true, confidenceScore: scores.confidence, keptBy: group }];
  }
  const reason = primaries.has(docNo)
    ? "is the primary of another accepted group"
    : (retained.get(docNo)?.reason ?? "is left out");
  return [{ document, deleted: false, reason }];
}

function showDocument({
  id,
  title,
  archive,
  archiveRef,
  paperlessId,
}: DocumentRow): MessageInitShape<typeof PlanDocumentSchema> {
  return {
    documentId: id,
    title,
    archive,
    archiveRef,
    ...(paperlessId === undefined ? {} : { paperlessId }),
  };
}
