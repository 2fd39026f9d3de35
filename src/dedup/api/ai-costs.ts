/** What AI requests cost, over the API. */
import type { EstimateAiCostRequest, GetAiCostsRequest } from "../../gen/steward/dedup/v1/ai_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { costEntries, dayOf, monthOf, type CostEntry } from "../ai/costs.ts";
import { priceOf } from "../ai/prices.ts";
import type { AiApiDeps } from "./ai-deps.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;
/** Of a document, while there are none to average. */
const USUAL_TOKENS = { promptTokens: 2_000, completionTokens: 200 };

export function costMethods({ env, settings, clock }: AiApiDeps) {
  const entries = (): CostEntry[] => env.read((snapshot) => [...costEntries(snapshot)]);
  return {
    getAiCosts({ days }: GetAiCostsRequest) {
      const all = entries();
      const since = days === undefined ? "" : dayOf(clock.now() - (days - 1) * DAY_MS);
      const month = monthOf(clock.now());
      const { maxCostPerRunUsd, maxCostPerMonthUsd } = settings();
      const spent = sumOf(all.filter(({ day }) => day.startsWith(month)));
      return {
        data: {
          totalCostUsd: sumOf(all),
          costByProvider: grouped(all, ({ provider }) => provider).map(([provider, group]) => ({
            provider,
            costUsd: sumOf(group),
            tokenCount: tokens(group, "promptTokens") + tokens(group, "completionTokens"),
          })),
          costByModel: grouped(all, ({ model }) => model).map(([model, group]) => ({
            model,
            costUsd: sumOf(group),
            promptTokens: tokens(group, "promptTokens"),
            completionTokens: tokens(group, "completionTokens"),
          })),
          costOverTime: grouped(
            all.filter(({ day }) => day >= since),
            ({ day }) => day,
          ).map(([date, group]) => ({
            date,
            costUsd: sumOf(group),
            documentCount: group.reduce((sum, { row }) => sum + row.documents, 0),
          })),
          limits: {
            perRunUsd: maxCostPerRunUsd,
            perMonthUsd: maxCostPerMonthUsd,
            spentThisMonthUsd: spent,
            monthLimitReached: maxCostPerMonthUsd > 0 && spent >= maxCostPerMonthUsd,
          },
          requestsWithoutPrice: all.reduce((sum, { row }) => sum + row.requestsWithoutPrice, 0),
        },
      };
    },
    estimateAiCost({ documentCount }: EstimateAiCostRequest) {
      if (documentCount < 1)
        throw new StewardError("invalid", "documentCount must be at least 1", {
          field: "documentCount",
        });
      const { provider, model } = settings();
      const price = priceOf(provider, model);
      if (price === undefined)
        throw new StewardError(
          "not_found",
          `the price of model ${model} of ${provider} is not known`,
          { remedy: "GET /api/v1/ai/models lists the models with a price" },
        );
      const own = entries().filter((one) => one.provider === provider && one.model === model);
      const documents = own.reduce((sum, { row }) => sum + row.documents, 0);
      const perDocument =
        documents === 0
          ? USUAL_TOKENS
          : {
              promptTokens: tokens(own, "promptTokens") / documents,
              completionTokens: tokens(own, "completionTokens") / documents,
            };
      const breakdown = {
        input: documentCount * perDocument.promptTokens * price.input,
        output: documentCount * perDocument.completionTokens * price.output,
      };
      return { data: { estimatedCostUsd: breakdown.input + breakdown.output, breakdown } };
    },
  };
}

function sumOf(entries: readonly CostEntry[]): number {
  return entries.reduce((sum, { row }) => sum + row.costUsd, 0);
}

function tokens(entries: readonly CostEntry[], field: "promptTokens" | "completionTokens"): number {
  return entries.reduce((sum, { row }) => sum + row[field], 0);
}

/** In the order in which the keys appear. */
function grouped(
  entries: readonly CostEntry[],
  keyOf: (entry: CostEntry) => string,
): [string, CostEntry[]][] {
  return [...Map.groupBy(entries, keyOf)];
}
