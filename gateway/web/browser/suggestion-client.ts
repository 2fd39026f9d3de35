/** The AI endpoints over HTTP, as the pages read them and as a reviewer's decisions change results. */
import type {
  AiCostEstimate,
  AiPreflight,
  EstimateAiCostResponse,
  GetAiConfigResponse,
  GetAiCostsResponse,
  GetAiResultResponse,
  GetAiStatsResponse,
  GetDocumentResponse,
  ListAiResultsResponse,
  ListJobsResponse,
  PreflightAiResultsResponse,
  StartSyncResponse,
} from "../../../src/gen/dedup-json.ts";
import type { SuggestionsApi } from "../suggestions/api.ts";
import type { Field } from "../suggestions/fields.ts";
import { filterOf, type Filters } from "../suggestions/filters.ts";
import { call, query } from "./document-api.ts";

/** What a reviewer changes. Each rejects with a sentence for the reader. */
interface SuggestionActions {
  apply(id: string, fields: readonly Field[]): Promise<void>;
  reject(id: string, reason: string): Promise<void>;
  revert(id: string): Promise<void>;
  preflight(filters: Filters): Promise<AiPreflight>;
  /** The id of the job. */
  applyAll(filters: Filters): Promise<string>;
  /** Rejects with `NotThere` where the model has no known price. */
  estimate(documents: number): Promise<AiCostEstimate>;
  /** The id of the job; without documents those without a result. */
  process(documentIds?: readonly string[]): Promise<string>;
  cancel(jobId: string): Promise<void>;
}

export const suggestionClient: SuggestionsApi & SuggestionActions = {
  config: async () => (await call<GetAiConfigResponse>("GET", "/ai/config")).data,
  stats: async () => (await call<GetAiStatsResponse>("GET", "/ai/stats")).data,
  results: ({ status, search, minConfidence, offset }, limit) =>
    call<ListAiResultsResponse>(
      "GET",
      `/ai/results?${query({
        limit: String(limit),
        offset: String(offset),
        status,
        search,
        minConfidence: minConfidence?.toString(),
      })}`,
    ),
  result: async (id) => (await call<GetAiResultResponse>("GET", resultPath(id))).data,
  document: async (id) =>
    (await call<GetDocumentResponse>("GET", `/documents/${encodeURIComponent(id)}`)).data,
  costs: async (days) =>
    (await call<GetAiCostsResponse>("GET", `/ai/costs?${query({ days: String(days) })}`)).data,
  jobs: async () => (await call<ListJobsResponse>("GET", "/jobs?limit=20")).data,
  apply: (id, fields) => call("POST", `${resultPath(id)}/apply`, { fields }),
  reject: (id, reason) => call("POST", `${resultPath(id)}/reject`, { reason }),
  revert: (id) => call("POST", `${resultPath(id)}/revert`, {}),
  preflight: async (filters) =>
    (
      await call<PreflightAiResultsResponse>("POST", "/ai/results/preflight", {
        scope: scopeOf(filters),
      })
    ).data,
  applyAll: async (filters) =>
    (
      await call<StartSyncResponse>("POST", "/ai/results/apply-all", {
        scope: scopeOf(filters),
      })
    ).data.jobId,
  estimate: async (documents) =>
    (
      await call<EstimateAiCostResponse>(
        "GET",
        `/ai/costs/estimate?${query({ documentCount: String(documents) })}`,
      )
    ).data,
  process: async (documentIds) =>
    (
      await call<StartSyncResponse>(
        "POST",
        "/ai/process",
        documentIds === undefined ? {} : { documentIds },
      )
    ).data.jobId,
  cancel: (jobId) => call("POST", `/jobs/${encodeURIComponent(jobId)}/cancel`),
};

function resultPath(id: string): string {
  return `/ai/results/${encodeURIComponent(id)}`;
}

function scopeOf(filters: Filters): object {
  return { type: "current_filter", filters: filterOf(filters) };
}
