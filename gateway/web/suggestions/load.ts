/** Collects what the pages about suggestions show. A part that cannot be read leaves its reason. */
import type {
  AiConfig,
  AiCosts,
  AiResultDetail,
  AiStats,
  Document,
  Job,
  ListAiResultsResponse,
} from "../../../src/gen/dedup-json.ts";
import { read, valueOf, type Read } from "../review/load.ts";
import type { SuggestionsApi } from "./api.ts";
import { PAGE_RESULTS, readFilters } from "./filters.ts";

/** The settings, the sums, and the batch job that runs. */
export interface Overview {
  readonly config: AiConfig;
  readonly stats: AiStats;
  readonly running: Job | undefined;
  /** The newest batch job that has ended: its id and when. */
  readonly lastEnd: string | undefined;
  /** Costs of this month and their limits. */
  readonly limits: AiCosts["limits"];
}

export interface OpenResult {
  readonly result: AiResultDetail;
  /** Undefined where it cannot be read, or is gone. */
  readonly document: Document | undefined;
}

export interface SuggestionsFacts {
  readonly overview: Read<Overview>;
  readonly list: Read<ListAiResultsResponse>;
  readonly open: Read<OpenResult> | undefined;
}

export interface CostsFacts {
  readonly costs: Read<AiCosts>;
  readonly stats: Read<AiStats>;
  readonly days: number;
}

/** Days of costs to choose from; the first is the default. */
export const COST_DAYS = [30, 90, 365] as const;

export async function loadSuggestions(
  api: SuggestionsApi,
  params: URLSearchParams,
): Promise<SuggestionsFacts> {
  const id = params.get("result") ?? "";
  // A job that ends between the two is still followed to its end, after which all is read again.
  const overview = await loadOverview(api);
  const [list, open] = await Promise.all([
    read(() => api.results(readFilters(params), PAGE_RESULTS)),
    id === "" ? undefined : loadResult(api, id),
  ]);
  return { overview, list, open };
}

export function loadOverview(api: SuggestionsApi): Promise<Read<Overview>> {
  return read(async () => {
    const [config, stats, jobs, costs] = await Promise.all([
      api.config(),
      api.stats(),
      api.jobs(),
      api.costs(1),
    ]);
    const batches = jobs.filter(
      ({ type, operation }) =>
        type === "batch_operation" && (operation === "ai_processing" || operation === "ai_apply"),
    );
    const ended = batches.find((job) => !isRunning(job));
    return {
      config,
      stats,
      running: batches.find(isRunning),
      lastEnd: ended && `${ended.id} ${ended.completedAt}`,
      limits: costs.limits,
    };
  });
}

function isRunning({ status }: Job): boolean {
  return status === "running" || status === "pending";
}

export function loadResult(api: SuggestionsApi, id: string): Promise<Read<OpenResult>> {
  return read(async () => {
    const result = await api.result(id);
    const { documentId } = result;
    const document =
      documentId === "" ? undefined : valueOf(await read(() => api.document(documentId)));
    return { result, document };
  });
}

export async function loadCosts(api: SuggestionsApi, params: URLSearchParams): Promise<CostsFacts> {
  const asked = Number(params.get("days"));
  const days = COST_DAYS.find((each) => each === asked) ?? COST_DAYS[0];
  const [costs, stats] = await Promise.all([read(() => api.costs(days)), read(() => api.stats())]);
  return { costs, stats, days };
}
