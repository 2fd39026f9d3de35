/** Reading duplicate groups and deciding about them. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  DuplicateService,
  GroupSort,
  PlanFilter,
  SortOrder,
} from "../../gen/steward/dedup/v1/duplicates_pb.ts";
import type { ListGroupsRequest } from "../../gen/steward/dedup/v1/duplicates_pb.ts";
import type { TextContentSchema } from "../../gen/steward/dedup/v1/groups_pb.ts";
import type { DocumentRow } from "../../gen/steward/state/v1/dedup_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { BoundService } from "../../kernel/service.ts";
import { bindService } from "../../kernel/service.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { Matching } from "../documents/matching.ts";
import type { DocumentStore } from "../documents/store.ts";
import type { GroupFilter, GroupIndex, GroupOrder } from "../groups/index.ts";
import type { ShownMember, ShownSummary } from "../groups/present.ts";
import { showGroup, shownDocuments, showSummary } from "../groups/present.ts";
import {
  deleteGroup,
  requireGroup,
  setPrimary,
  setStatus,
  visibleMembers,
} from "../groups/review.ts";
import type { StoredGroup } from "../groups/store.ts";
import { readGroup } from "../groups/store.ts";
import { groupFilterOf } from "./group-filter.ts";

export interface DuplicatesApiDeps {
  readonly env: Env;
  readonly documents: Pick<DocumentStore, "byId" | "fullText" | "index">;
  readonly index: GroupIndex;
  readonly clock: Clock;
  readonly matching: Matching;
}

/** All methods of DuplicateService. */
export function duplicateHandlers(deps: DuplicatesApiDeps): BoundService {
  const { env, index, clock } = deps;
  return bindService(DuplicateService, {
    listGroups(request) {
      const page = { offset: request.offset, limit: request.limit ?? 50 };
      const { ids, total, totalMemberCount } = listedGroups(deps, request, page);
      const data = env.read((snapshot) =>
        ids.flatMap((id) => {
          const group = readGroup(snapshot, id);
          return group ? [showSummary(snapshot, group)] : [];
        }),
      );
      return { data, meta: { total, totalMemberCount, ...page } };
    },
    async getGroup({ id, light }, { signal }) {
      const { group, rows } = env.read((snapshot) => {
        const found = requireGroup(snapshot, id);
        return { group: found, rows: shownDocuments(snapshot, found) };
      });
      return {
        data: showGroup(
          group,
          light
            ? rows.map((document) => ({ document, fullText: undefined }))
            : await withTexts(deps, rows, signal),
        ),
      };
    },
    async deleteGroup({ id }) {
      await env.write((tx) => deleteGroup(tx, index, id));
      return { data: { deleted: true } };
    },
    async compareMembers({ id, docA, docB }) {
      const group = env.read((snapshot) => readGroup(snapshot, id));
      const rows = [
        memberOf(deps, group, { id, field: "docA", documentId: docA }),
        memberOf(deps, group, { id, field: "docB", documentId: docB }),
      ] as const;
      const [a, b] = await Promise.all(rows.map((row) => textOf(deps, row)));
      return { data: { docA: a ?? {}, docB: b ?? {} } };
    },
    async setGroupStatus({ id, status }) {
      const group = await env.write((tx) =>
        setStatus(tx, index, { id, status, nowMs: clock.now() }),
      );
      return { data: showUpdated(env, group) };
    },
    async setGroupPrimary({ id, documentId }) {
      const docNo = documentOf(deps, documentId)?.docNo;
      const group = await env.write((tx) =>
        setPrimary(tx, index, { id, docNo, documentId, nowMs: clock.now() }),
      );
      return { data: { ...showUpdated(env, group), documentId } };
    },
  });
}

/** The groups that a request for a list asks for. */
export function listedGroups(
  { index, matching }: Pick<DuplicatesApiDeps, "index" | "matching">,
  request: ListGroupsRequest,
  page: { readonly offset: number; readonly limit: number },
): ReturnType<GroupIndex["select"]> {
  const { search, since } = request;
  const sinceMs = since && timestampMs(since);
  const filter = {
    ...filterOf(request),
    ...(search === "" ? {} : { members: matching({ search }) }),
    ...(sinceMs === undefined ? {} : { arrived: { sinceMs, documents: matching({ sinceMs }) } }),
  };
  return index.select(filter, sortOf(request), page);
}

function filterOf(request: ListGroupsRequest): GroupFilter {
  const { plan } = request;
  return {
    ...groupFilterOf(request),
    ...(plan === PlanFilter.UNSPECIFIED ? {} : { accepted: plan === PlanFilter.IN }),
  };
}

const orders: Readonly<Record<number, GroupOrder>> = {
  [GroupSort.CONFIDENCE]: "confidence",
  [GroupSort.CREATED_AT]: "createdAt",
  [GroupSort.MEMBER_COUNT]: "memberCount",
};

function sortOf({ sortBy, sortOrder }: ListGroupsRequest): { by: GroupOrder; descending: boolean } {
  return { by: orders[sortBy] ?? "confidence", descending: sortOrder !== SortOrder.ASC };
}

/**
 * The most text one answer holds, in UTF-16 units; members after that come without theirs, as with
 * `light`.
 */
const ANSWER_UNITS = 16 * 1024 * 1024;

async function withTexts(
  deps: DuplicatesApiDeps,
  rows: readonly DocumentRow[],
  signal: AbortSignal,
): Promise<ShownMember[]> {
  const members: ShownMember[] = [];
  let left = ANSWER_UNITS;
  for (const document of rows) {
    signal.throwIfAborted();
    const fullText = left > 0 ? await deps.documents.fullText(document) : undefined;
    left -= fullText?.length ?? 0;
    members.push({ document, fullText });
  }
  return members;
}

/** The document, or undefined; what cannot be an id is no document. */
function documentOf({ documents }: DuplicatesApiDeps, id: string): DocumentRow | undefined {
  return id.length <= 64 ? documents.byId(id) : undefined;
}

function memberOf(
  deps: DuplicatesApiDeps,
  group: StoredGroup | undefined,
  requested: { readonly id: string; readonly field: "docA" | "docB"; readonly documentId: string },
): DocumentRow {
  const { id, field, documentId } = requested;
  const row = documentOf(deps, documentId);
  if (row && group && visibleMembers(group).includes(row.docNo)) return row;
  const message = `${field} must be the id of a member of duplicate group "${id.slice(0, 64)}"; GET /api/v1/duplicates/{id} lists them`;
  throw new StewardError("invalid", message, {
    field,
    details: [{ path: [field], message, code: "custom" }],
  });
}

async function textOf(
  deps: DuplicatesApiDeps,
  row: DocumentRow,
): Promise<MessageInitShape<typeof TextContentSchema>> {
  const fullText = await deps.documents.fullText(row);
  return fullText === undefined ? {} : { fullText, wordCount: row.wordCount };
}

function showUpdated(env: Env, group: StoredGroup): ShownSummary & { readonly groupId: string } {
  return { ...env.read((snapshot) => showSummary(snapshot, group)), groupId: group.row.id };
}
