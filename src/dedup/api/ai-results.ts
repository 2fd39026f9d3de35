/** Reading AI results over the API. */
import { AiResultStatus } from "../../gen/steward/dedup/v1/ai_pb.ts";
import type {
  GetAiResultRequest,
  GroupAiResultsRequest,
  ListAiResultsRequest,
} from "../../gen/steward/dedup/v1/ai_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Call } from "../../kernel/service.ts";
import { BAD_REQUEST } from "../../kernel/wire/issues.ts";
import { costEntries } from "../ai/costs.ts";
import { bandOf } from "../ai/preflight.ts";
import type { ResultEntry, ResultFilter, ResultIndex } from "../ai/result-index.ts";
import { filterOf } from "../ai/review.ts";
import type { AiApiDeps } from "./ai-deps.ts";
import { showDetail, showResult } from "./ai-view.ts";

/** Ids of a group. */
const GROUP_IDS = 1_000;

export function resultMethods({ results, documents, env }: AiApiDeps) {
  return {
    async listAiResults(request: ListAiResultsRequest, { signal }: Call) {
      const page = { limit: request.limit ?? 50, offset: request.offset };
      const { shown, total } = await pageOf(results.index, filterOf(request), page, signal);
      const data = shown.flatMap(({ docNo }) => {
        const row = results.row(docNo);
        return row === undefined ? [] : [showResult(row, documents.row(docNo))];
      });
      return { data, meta: { total, ...page } };
    },
    getAiResult({ id }: GetAiResultRequest) {
      const row = results.byId(id);
      return { data: showDetail(row, documents.row(row.docNo)) };
    },
    async groupAiResults(request: GroupAiResultsRequest, { signal }: Call) {
      const keyOf = groupings.get(request.groupBy);
      if (keyOf === undefined)
        throw new StewardError(
          "invalid",
          `groupBy must be one of ${[...groupings.keys()].join(", ")}`,
          { field: "groupBy", rule: BAD_REQUEST },
        );
      const entries = await results.index.select(
        { ...filterOf(request), changedOnly: request.changedOnly },
        signal,
      );
      const isBanded = request.groupBy === "confidenceBand";
      return { data: { groups: await groupBy(entries, { keyOf, isBanded, signal }) } };
    },
    getAiStats() {
      const count = (status: AiResultStatus): number => results.index.count(status);
      let [totalPromptTokens, totalCompletionTokens, totalEstimatedCostUsd] = [0, 0, 0];
      env.read((snapshot) => {
        for (const { row } of costEntries(snapshot)) {
          totalPromptTokens += row.promptTokens;
          totalCompletionTokens += row.completionTokens;
          totalEstimatedCostUsd += row.costUsd;
        }
      });
      return {
        data: {
          totalProcessed: results.index.size,
          pendingReview: count(AiResultStatus.PENDING),
          applied: count(AiResultStatus.APPLIED) + count(AiResultStatus.PARTIAL),
          rejected: count(AiResultStatus.REJECTED),
          failed: count(AiResultStatus.FAILED),
          reverted: count(AiResultStatus.REVERTED),
          unprocessed: Math.max(0, documents.index.size - results.index.size),
          totalPromptTokens,
          totalCompletionTokens,
          totalEstimatedCostUsd,
        },
      };
    },
  };
}

/** One page, and how many results match; without a filter nothing else is looked at. */
async function pageOf(
  index: ResultIndex,
  filter: ResultFilter,
  { limit, offset }: { readonly limit: number; readonly offset: number },
  signal: AbortSignal,
): Promise<{ readonly shown: readonly ResultEntry[]; readonly total: number }> {
  if (Object.values(filter).every((value) => value === undefined))
    return { shown: index.newest({ limit, offset }), total: index.size };
  const entries = await index.select(filter, signal);
  return { shown: entries.slice(offset, offset + limit), total: entries.length };
}

const bandKeys = {
  high: "high (80 % and more)",
  medium: "medium (50 to 79 %)",
  low: "low (below 50 %)",
} as const;

const groupings: ReadonlyMap<string, (entry: ResultEntry) => string | undefined> = new Map([
  ["suggestedCorrespondent", ({ correspondent }: ResultEntry) => correspondent],
  ["suggestedDocumentType", ({ documentType }: ResultEntry) => documentType],
  ["failureType", ({ failureType }: ResultEntry) => failureType],
  ["confidenceBand", ({ confidence }: ResultEntry) => bandKeys[bandOf(confidence)]],
]);

interface Group {
  readonly key: string;
  count: number;
  readonly resultIds: string[];
}

interface Grouping {
  readonly keyOf: (entry: ResultEntry) => string | undefined;
  readonly isBanded: boolean;
  readonly signal: AbortSignal;
}

/** Largest first; bands from high to low. */
async function groupBy(
  entries: readonly ResultEntry[],
  { keyOf, isBanded, signal }: Grouping,
): Promise<Group[]> {
  const groups = new Map<string, Group>();
  const turns = new Turns();
  for (const entry of entries) {
    if (turns.over) await turns.give(signal);
    const key = keyOf(entry) ?? "(none)";
    const group = groups.get(key) ?? { key, count: 0, resultIds: [] };
    groups.set(key, group);
    group.count += 1;
    if (group.resultIds.length < GROUP_IDS) group.resultIds.push(entry.id);
  }
  if (isBanded) return Object.values(bandKeys).flatMap((key) => groups.get(key) ?? []);
  return [...groups.values()].sort((left, right) => right.count - left.count);
}
