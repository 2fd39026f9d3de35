/** The document API over HTTP, as the pages read it and as a reviewer's decisions change it. */
import type {
  AcceptExactCopiesResponse,
  AcceptGroupsResponse,
  CompareMembersResponse,
  GetAnalysisStatusResponse,
  GetDeletePlanResponse,
  GetDocumentResponse,
  GetGroupResponse,
  GetSyncStatusResponse,
  GroupSummary,
  ListDocumentsResponse,
  ListGroupsResponse,
  ListJobsResponse,
  StartSyncResponse,
} from "../../../src/gen/dedup-json.ts";
import type { ReviewApi } from "../review/api.ts";
import { queryOf } from "../review/filters.ts";
import { call, query } from "./document-api.ts";

/** What a reviewer changes. Each rejects with a sentence for the reader. */
export interface ReviewActions {
  setStatus(id: string, status: GroupSummary["status"]): Promise<void>;
  setPrimary(id: string, documentId: string): Promise<void>;
  /** The ids that went into the plan; at most 1,000 may be given. */
  accept(ids: readonly string[]): Promise<readonly string[]>;
  withdraw(ids: readonly string[]): Promise<readonly string[]>;
  /** Accepts up to 1,000 groups of exact copies. */
  acceptCopies(): Promise<{ readonly groupIds: readonly string[]; readonly more: boolean }>;
  /** The id of the job. */
  start(type: "sync" | "analysis"): Promise<string>;
  cancel(jobId: string): Promise<void>;
}

export const reviewClient: ReviewApi & ReviewActions = {
  groups(filters, limit) {
    const { status, plan } = queryOf(filters);
    return call<ListGroupsResponse>(
      "GET",
      `/duplicates?${query({
        limit: String(limit),
        offset: String(filters.offset),
        status: status.join(","),
        plan,
        search: filters.search,
        minConfidence: filters.minConfidence?.toString(),
        sortBy: filters.sort,
        sortOrder: filters.descending ? "desc" : "asc",
      })}`,
    );
  },
  group: async (id) => (await call<GetGroupResponse>("GET", `${groupPath(id)}?light=true`)).data,
  texts: async (id, docA, docB) =>
    (await call<CompareMembersResponse>("GET", `${groupPath(id)}/content?${query({ docA, docB })}`))
      .data,
  plan: ({ offset, limit }) =>
    call<GetDeletePlanResponse>(
      "GET",
      `/delete-plan?${query({ offset: String(offset), limit: String(limit) })}`,
    ),
  documents: ({ search, offset, limit, pending }) =>
    call<ListDocumentsResponse>(
      "GET",
      `/documents?${query({
        search,
        offset: String(offset),
        limit: String(limit),
        processingStatus: pending ? "pending" : undefined,
      })}`,
    ),
  document: async (id) =>
    (await call<GetDocumentResponse>("GET", `/documents/${encodeURIComponent(id)}`)).data,
  sync: async () => (await call<GetSyncStatusResponse>("GET", "/sync/status")).data,
  analysis: async () => (await call<GetAnalysisStatusResponse>("GET", "/analysis/status")).data,
  jobs: async () => (await call<ListJobsResponse>("GET", "/jobs?limit=20")).data,
  setStatus: (id, status) => call("PUT", `${groupPath(id)}/status`, { status }),
  setPrimary: (id, documentId) => call("PUT", `${groupPath(id)}/primary`, { documentId }),
  accept: async (groupIds) =>
    (await call<AcceptGroupsResponse>("POST", "/delete-plan/accept", { groupIds })).data.groupIds,
  withdraw: async (groupIds) =>
    (await call<AcceptGroupsResponse>("POST", "/delete-plan/withdraw", { groupIds })).data.groupIds,
  acceptCopies: async () =>
    (await call<AcceptExactCopiesResponse>("POST", "/delete-plan/accept-exact-copies", {})).data,
  start: async (type) => (await call<StartSyncResponse>("POST", `/${type}`, {})).data.jobId,
  cancel: (jobId) => call("POST", `/jobs/${encodeURIComponent(jobId)}/cancel`),
};

function groupPath(id: string): string {
  return `/duplicates/${encodeURIComponent(id)}`;
}
