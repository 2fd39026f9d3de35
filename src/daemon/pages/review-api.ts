/**
 * The document API as its pages read it on the server: the same handlers as over HTTP, and the same
 * JSON.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ReviewApi } from "../../../gateway/web/review/api.ts";
import { queryOf, type Filters } from "../../../gateway/web/review/filters.ts";
import { AnalysisService } from "../../gen/steward/dedup/v1/analysis_pb.ts";
import { DeletePlanService } from "../../gen/steward/dedup/v1/delete_plan_pb.ts";
import { DocumentService, ProcessingStatus } from "../../gen/steward/dedup/v1/documents_pb.ts";
import {
  DuplicateService,
  GroupSort,
  type ListGroupsRequestSchema,
  PlanFilter,
  SortOrder,
} from "../../gen/steward/dedup/v1/duplicates_pb.ts";
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import { JobService } from "../../gen/steward/dedup/v1/jobs_pb.ts";
import { SyncService } from "../../gen/steward/dedup/v1/sync_pb.ts";
import type {
  GetAnalysisStatusResponse,
  GetDeletePlanResponse,
  GetDocumentResponse,
  GetGroupResponse,
  CompareMembersResponse,
  GetSyncStatusResponse,
  ListDocumentsResponse,
  ListGroupsResponse,
  ListJobsResponse,
} from "../../gen/dedup-json.ts";
import type { BoundService, Call } from "../../kernel/service.ts";
import { createAsk } from "./ask-api.ts";

const STATUSES = {
  pending: GroupStatus.PENDING,
  false_positive: GroupStatus.FALSE_POSITIVE,
  ignored: GroupStatus.IGNORED,
  deleted: GroupStatus.DELETED,
} as const;
const SORTS = {
  confidence: GroupSort.CONFIDENCE,
  member_count: GroupSort.MEMBER_COUNT,
  created_at: GroupSort.CREATED_AT,
} as const;
const PLANS = { in: PlanFilter.IN, out: PlanFilter.OUT } as const;
const JOBS = 20;

/** The API of one request. Rejects with sentences that a reader may see. */
export function createReviewApi(rpc: readonly BoundService[], call: Call): ReviewApi {
  const ask = createAsk(rpc, call);
  const { listGroups, getGroup, compareMembers } = DuplicateService.method;
  const { listDocuments, getDocument } = DocumentService.method;
  return {
    groups: async (filters, limit) =>
      (await ask(listGroups, groupRequest(filters, limit))) as ListGroupsResponse,
    group: async (id) => ((await ask(getGroup, { id, light: true })) as GetGroupResponse).data,
    texts: async (id, docA, docB) =>
      ((await ask(compareMembers, { id, docA, docB })) as CompareMembersResponse).data,
    plan: async (page) =>
      (await ask(DeletePlanService.method.getDeletePlan, page)) as GetDeletePlanResponse,
    documents: async ({ pending, ...query }) => {
      const processingStatus = pending ? ProcessingStatus.PENDING : ProcessingStatus.UNSPECIFIED;
      return (await ask(listDocuments, { ...query, processingStatus })) as ListDocumentsResponse;
    },
    document: async (id) => ((await ask(getDocument, { id })) as GetDocumentResponse).data,
    sync: async () =>
      ((await ask(SyncService.method.getSyncStatus, {})) as GetSyncStatusResponse).data,
    analysis: async () =>
      ((await ask(AnalysisService.method.getAnalysisStatus, {})) as GetAnalysisStatusResponse).data,
    jobs: async () =>
      ((await ask(JobService.method.listJobs, { limit: JOBS })) as ListJobsResponse).data,
  };
}

function groupRequest(
  filters: Filters,
  limit: number,
): MessageInitShape<typeof ListGroupsRequestSchema> {
  const { status, plan } = queryOf(filters);
  return {
    limit,
    offset: filters.offset,
    status: status.map((name) => STATUSES[name]),
    plan: plan === undefined ? PlanFilter.UNSPECIFIED : PLANS[plan],
    search: filters.search,
    sortBy: SORTS[filters.sort],
    sortOrder: filters.descending ? SortOrder.DESC : SortOrder.ASC,
    ...(filters.minConfidence === undefined ? {} : { minConfidence: filters.minConfidence }),
  };
}
