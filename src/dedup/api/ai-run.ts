/** Settings, models and runs of AI suggestions over the API. */
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { AiResultStatus } from "../../gen/steward/dedup/v1/ai_pb.ts";
import type {
  AiConfigSchema,
  ListAiModelsRequest,
  StartAiProcessingRequest,
  TestAiProviderRequest,
  UpdateAiConfigRequest,
} from "../../gen/steward/dedup/v1/ai_pb.ts";
import { AiProcessInputSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import { StewardError } from "../../kernel/base/errors.ts";

import type { Call } from "../../kernel/service.ts";
import { BAD_REQUEST } from "../../kernel/wire/issues.ts";
import { spentInMonth } from "../ai/costs.ts";
import { AI_SCOPE, aiSettings, leafOf, providerNames } from "../ai/keys.ts";
import { knownModels } from "../ai/price-table.ts";
import { priceOf } from "../ai/prices.ts";
import { requirePrice } from "../ai/process-job.ts";
import { filterOf } from "../ai/review.ts";
import { isNarrowing, scopeTypeOf } from "../ai/scope.ts";
import { checkProvider, hasAddress, hasCredential } from "../ai/providers/open.ts";
import { MAX_CHOSEN, type AiApiDeps } from "./ai-deps.ts";
import { withFieldNames } from "./field-names.ts";

export function runMethods(deps: AiApiDeps) {
  return {
    getAiConfig: () => ({ data: showConfig(deps) }),
    async updateAiConfig(request: UpdateAiConfigRequest) {
      try {
        await deps.settingStore.change(AI_SCOPE, patchOf(request));
      } catch (error) {
        throw withFieldNames(error, Object.keys(aiSettings), leafOf);
      }
      return { data: showConfig(deps) };
    },
    async listAiModels({ provider }: ListAiModelsRequest, { signal }: Call) {
      const name = providerNames.find((one) => one === provider);
      if (name === undefined)
        throw new StewardError("invalid", `provider must be one of ${providerNames.join(", ")}`, {
          field: "provider",
          rule: BAD_REQUEST,
        });
      if (name === "compatible")
        return { data: await (await deps.openProvider(name)).models(signal) };
      const known = knownModels.filter((model) => model.provider === name);
      return { data: known.map(({ id, name: label }) => ({ id, name: label })) };
    },
    listAiProviders: () => ({
      data: providerNames.map((name) => ({
        name,
        hasAddress: hasAddress(deps.config, name),
        hasCredential: hasCredential(deps.config, name),
        chosen: name === deps.settings().provider,
      })),
    }),
    async testAiProvider(_request: TestAiProviderRequest, { signal }: Call) {
      const { provider, model } = deps.settings();
      const opened = await deps.openProvider(provider);
      const beganAtMs = deps.clock.monotonic();
      const listed = await opened.models(signal);
      const latencyMs = Math.round(deps.clock.monotonic() - beganAtMs);
      const modelListed = listed.some(({ id }) => id === model);
      return {
        data: { connected: true, provider, model, modelListed, models: listed.length, latencyMs },
      };
    },
    async startAiProcessing(request: StartAiProcessingRequest, { signal }: Call) {
      const config = deps.settings();
      checkProvider(deps.config, config.provider);
      requirePrice(config, priceOf(config.provider, config.model));
      checkMonth(deps);
      const input = create(AiProcessInputSchema, await selectionOf(deps, request, signal));
      if (input.docNos.length > MAX_CHOSEN)
        throw new StewardError(
          "too_large",
          `one run takes at most ${MAX_CHOSEN} chosen documents`,
          {
            remedy: "narrow the scope, e.g. current_filter with status failed and a provider",
          },
        );
      const job = await deps.jobs.start(deps.processJob, input);
      return { data: { jobId: job.id } };
    },
  };
}

/** Throws `conflict` when the month has no money left. */
function checkMonth({ env, settings, clock }: AiApiDeps): void {
  const limit = settings().maxCostPerMonthUsd;
  const spent = env.read((snapshot) => spentInMonth(snapshot, clock.now()));
  if (limit === 0 || spent < limit) return;
  throw new StewardError(
    "conflict",
    `the cost limit of this month is reached: ${spent.toFixed(4)} of ${limit} US dollars`,
    { remedy: "raise maxCostPerMonthUsd with PUT /api/v1/ai/config, or wait for the next month" },
  );
}

const scopeTypes = {
  new_only: undefined,
  failed_only: undefined,
  selected_document_ids: "documentIds",
  current_filter: "filters",
  full_reprocess: undefined,
} as const;

/** What a run processes. Throws `invalid` and `not_found`. */
async function selectionOf(
  deps: AiApiDeps,
  { reprocess, documentIds, scope }: StartAiProcessingRequest,
  signal: AbortSignal,
): Promise<MessageInitShape<typeof AiProcessInputSchema>> {
  if (scope === undefined)
    return { reprocess, docNos: await docNosOf(deps, "documentIds", documentIds, signal) };
  const { index } = deps.results;
  const given = {
    documentIds: scope.documentIds.length > 0,
    filters: isNarrowing(scope.filters),
  };
  switch (scopeTypeOf(scope.type, given, scopeTypes)) {
    case "new_only":
      return {};
    case "full_reprocess":
      return { reprocess: true };
    case "selected_document_ids":
      if (scope.documentIds.length === 0)
        throw new StewardError("invalid", "scope.documentIds must name at least one document", {
          field: "scope.documentIds",
        });
      return {
        selected: true,
        docNos: await docNosOf(deps, "scope.documentIds", scope.documentIds, signal),
      };
    case "failed_only": {
      const failed = await index.select({ statuses: new Set([AiResultStatus.FAILED]) }, signal);
      const again = failed.filter(({ failureType }) => failureType !== "no_suggestions");
      // Those that fail once more become the newest: the next run does not begin with them.
      return { selected: true, docNos: again.map(({ docNo }) => docNo).toReversed() };
    }
    case "current_filter": {
      const filter = scope.filters === undefined ? {} : filterOf(scope.filters);
      const found = await index.select(filter, signal);
      return { selected: true, docNos: found.map(({ docNo }) => docNo) };
    }
  }
}

async function docNosOf(
  { documents }: AiApiDeps,
  field: string,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<number[]> {
  const turns = new Turns();
  const docNos = new Set<number>();
  for (const [at, id] of ids.entries()) {
    if (turns.over) await turns.give(signal);
    const row = id.length <= 64 ? documents.byId(id) : undefined;
    if (row === undefined)
      throw new StewardError(
        "not_found",
        `${field}[${at}]: there is no document ${JSON.stringify(id.slice(0, 40))}`,
        { field: `${field}.${at}` },
      );
    docNos.add(row.docNo);
  }
  return [...docNos];
}

function showConfig({ settings }: AiApiDeps): MessageInitShape<typeof AiConfigSchema> {
  const config = settings();
  return { ...config, protectedTagNames: [...config.protectedTagNames] };
}

function patchOf({
  $typeName: _type,
  $unknown: _unknown,
  protectedTagNames,
  clearProtectedTagNames,
  ...given
}: UpdateAiConfigRequest): Record<string, unknown> {
  const names = [...new Set(protectedTagNames)];
  return {
    ...Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) =>
        value === undefined ? [] : [[leafOf(name), value]],
      ),
    ),
    ...(clearProtectedTagNames || names.length > 0
      ? { [leafOf("protectedTagNames")]: clearProtectedTagNames ? [] : names }
      : {}),
  };
}
