/** The AI endpoints as their pages read them on the server: the same handlers, the same JSON. */
import type { SuggestionsApi } from "../../../gateway/web/suggestions/api.ts";
import type { Filters, Status } from "../../../gateway/web/suggestions/filters.ts";
import type {
  GetAiConfigResponse,
  GetAiCostsResponse,
  GetAiResultResponse,
  GetAiStatsResponse,
  GetDocumentResponse,
  ListAiResultsResponse,
  ListJobsResponse,
} from "../../gen/dedup-json.ts";
import { AiResultStatus, AiService } from "../../gen/steward/dedup/v1/ai_pb.ts";
import { DocumentService } from "../../gen/steward/dedup/v1/documents_pb.ts";
import { JobService } from "../../gen/steward/dedup/v1/jobs_pb.ts";
import type { BoundService, Call } from "../../kernel/service.ts";
import { createAsk } from "./ask-api.ts";

const STATUSES: Readonly<Record<Status, AiResultStatus>> = {
  pending: AiResultStatus.PENDING,
  applied: AiResultStatus.APPLIED,
  partial: AiResultStatus.PARTIAL,
  rejected: AiResultStatus.REJECTED,
  reverted: AiResultStatus.REVERTED,
  failed: AiResultStatus.FAILED,
};
const JOBS = 20;

/** The API of one request. Rejects with sentences that a reader may see. */
export function createSuggestionsApi(rpc: readonly BoundService[], call: Call): SuggestionsApi {
  const ask = createAsk(rpc, call);
  const { getAiConfig, getAiStats, listAiResults, getAiResult, getAiCosts } = AiService.method;
  return {
    config: async () => ((await ask(getAiConfig, {})) as GetAiConfigResponse).data,
    stats: async () => ((await ask(getAiStats, {})) as GetAiStatsResponse).data,
    results: async (filters, limit) =>
      (await ask(listAiResults, { limit, ...requestOf(filters) })) as ListAiResultsResponse,
    result: async (id) => ((await ask(getAiResult, { id })) as GetAiResultResponse).data,
    document: async (id) =>
      ((await ask(DocumentService.method.getDocument, { id })) as GetDocumentResponse).data,
    costs: async (days) => ((await ask(getAiCosts, { days })) as GetAiCostsResponse).data,
    jobs: async () =>
      ((await ask(JobService.method.listJobs, { limit: JOBS })) as ListJobsResponse).data,
  };
}

function requestOf({ status, search, minConfidence, offset }: Filters) {
  return {
    search,
    offset,
    status: status === undefined ? AiResultStatus.UNSPECIFIED : STATUSES[status],
    ...(minConfidence === undefined ? {} : { minConfidence }),
  };
}
