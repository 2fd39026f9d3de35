/** Applying, rejecting and judging AI results over the API. */

import { create, toJson } from "@bufbuild/protobuf";
import { ValueSchema, type Value } from "@bufbuild/protobuf/wkt";
import {
  AiFeedbackAction,
  AiResultStatus,
  AiScopeSchema,
  type AiField,
  type AiScope,
  type ApplyAiResultRequest,
  type ApplyAllAiResultsRequest,
  type BatchApplyAiResultsRequest,
  type BatchRejectAiResultsRequest,
  type PreflightAiResultsRequest,
  type RecordAiFeedbackRequest,
  type RejectAiResultRequest,
  type RevertAiResultRequest,
} from "../../gen/steward/dedup/v1/ai_pb.ts";
import { AiApplyInputSchema } from "../../gen/steward/state/v1/dedup_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Call } from "../../kernel/service.ts";
import { BAD_REQUEST } from "../../kernel/wire/issues.ts";
import { ALL_FIELDS, createApplier, notApplicable } from "../ai/apply.ts";
import type { ApplyOptions } from "../ai/change.ts";
import { addFeedback, summariseFeedback, type Correction } from "../ai/feedback.ts";
import { preflight } from "../ai/preflight.ts";
import { chosenOf, entriesOf, rejectMany, rejectOne, type ChosenResult } from "../ai/review.ts";
import { resultById } from "../ai/result-store.ts";
import { MAX_CHOSEN, type AiApiDeps } from "./ai-deps.ts";

export function reviewMethods(deps: AiApiDeps) {
  const { env, clock, results } = deps;
  const startApply = async (
    choose: () => Promise<readonly ChosenResult[]>,
    request: FieldsRequest,
    signal: AbortSignal,
  ): Promise<{ data: { jobId: string } }> => {
    const { fields, allowClearing, createMissing } = optionsOf(request);
    // Read before the choice: what replaces a chosen result has a higher one, from the first moment.
    const { newestSerial } = results.index;
    const docNos = (await choose()).map(({ docNo }) => docNo);
    await checkWritable(deps, docNos, signal);
    if (docNos.length > MAX_CHOSEN)
      throw new StewardError("too_large", `one job applies at most ${MAX_CHOSEN} results`, {
        remedy: "narrow the filter",
      });
    const input = create(AiApplyInputSchema, {
      docNos,
      newestSerial,
      fields: [...fields],
      allowClearing,
      createMissing,
    });
    return { data: { jobId: (await deps.jobs.start(deps.applyJob, input)).id } };
  };
  return {
    async applyAiResult(request: ApplyAiResultRequest, { signal }: Call) {
      await createApplier(deps).apply(results.byId(request.id), optionsOf(request), signal);
      return { data: { applied: true } };
    },
    async rejectAiResult({ id, reason }: RejectAiResultRequest) {
      await rejectOne(deps, id, reason);
      return { data: { rejected: true } };
    },
    async revertAiResult({ id }: RevertAiResultRequest, { signal }: Call) {
      await createApplier(deps).revert(results.byId(id), signal);
      return { data: { reverted: true } };
    },
    async recordAiFeedback(request: RecordAiFeedbackRequest) {
      const action = actions[request.action];
      if (action === undefined)
        throw new StewardError("invalid", "action must be rejected, corrected or partial_applied", {
          field: "action",
        });
      const given = correctionsOf(request.corrections);
      await env.write((tx) => {
        const row = resultById(tx, request.id);
        addFeedback(tx, {
          resultId: row.id,
          action,
          rejectedFields: request.rejectedFields,
          corrections: given,
          reason: request.reason,
          atMs: clock.now(),
        });
      });
      return { data: { recorded: true } };
    },
    async batchApplyAiResults(request: BatchApplyAiResultsRequest, { signal }: Call) {
      const { scope, resultIds } = request;
      if (scope === undefined && resultIds.length === 0)
        throw nothingSelected("resultIds or scope");
      if (scope !== undefined && resultIds.length > 0)
        throw new StewardError("invalid", "resultIds and scope exclude each other", {
          field: "resultIds",
          remedy: "leave one of them out",
        });
      const choose = (): Promise<readonly ChosenResult[]> =>
        scope === undefined
          ? chosenOf(env, [...new Set(resultIds)], signal)
          : entriesOf(deps, scope, signal);
      return await startApply(choose, request, signal);
    },
    async applyAllAiResults(request: ApplyAllAiResultsRequest, { signal }: Call) {
      const scope: AiScope = request.scope ?? create(AiScopeSchema);
      if (scope.type === "") scope.type = "all_pending";
      return await startApply(() => entriesOf(deps, scope, signal), request, signal);
    },
    async batchRejectAiResults({ resultIds }: BatchRejectAiResultsRequest, { signal }: Call) {
      if (resultIds.length === 0) throw nothingSelected("resultIds");
      return { data: { rejected: await rejectMany(deps, await chosenOf(env, resultIds, signal)) } };
    },
    async rejectAllAiResults(_request: unknown, { signal }: Call) {
      const pending = await results.index.select(
        { statuses: new Set([AiResultStatus.PENDING]) },
        signal,
      );
      return { data: { rejected: await rejectMany(deps, pending) } };
    },
    async preflightAiResults(request: PreflightAiResultsRequest, { signal }: Call) {
      if (request.scope === undefined) throw nothingSelected("scope");
      const entries = await entriesOf(deps, request.scope, signal);
      return { data: await preflight(deps, entries, optionsOf(request), signal) };
    },
    async getAiFeedbackSummary(_request: unknown, { signal }: Call) {
      return { data: await summariseFeedback(env, signal) };
    },
  };
}

/** Throws `conflict` when there are documents and none of them is in a Paperless-ngx. */
async function checkWritable(
  { documents, archives }: AiApiDeps,
  docNos: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  const byName = new Map(archives().map((archive) => [archive.name, archive]));
  const turns = new Turns();
  let other: string | undefined;
  for (const docNo of docNos) {
    if (turns.over) await turns.give(signal);
    const name = documents.row(docNo)?.archive;
    if (name === undefined) continue;
    if (byName.get(name)?.writer !== undefined) return;
    other ??= name;
  }
  if (other !== undefined) throw notApplicable(other);
}

const actions: Readonly<Record<number, "rejected" | "corrected" | "partial_applied">> = {
  [AiFeedbackAction.REJECTED]: "rejected",
  [AiFeedbackAction.CORRECTED]: "corrected",
  [AiFeedbackAction.PARTIAL_APPLIED]: "partial_applied",
};

interface FieldsRequest {
  readonly fields: readonly AiField[];
  readonly allowClearing: boolean;
  readonly createMissingEntities?: boolean | undefined;
}

function optionsOf({ fields, allowClearing, createMissingEntities }: FieldsRequest): ApplyOptions {
  return {
    fields: fields.length === 0 ? ALL_FIELDS : [...new Set(fields)],
    allowClearing,
    createMissing: createMissingEntities ?? true,
  };
}

function nothingSelected(names: string): StewardError {
  return new StewardError("invalid", `${names} must be given`, { rule: BAD_REQUEST });
}

const CORRECTION_CHARACTERS = 2_000;

/** A text is the right value; an object may also name what was suggested. */
function correctionsOf(values: Readonly<Record<string, Value>>): Correction[] {
  return Object.entries(values).map(([field, value]) => {
    const json: unknown = toJson(ValueSchema, value);
    const { suggested, corrected } = (
      typeof json === "object" && json !== null && !Array.isArray(json)
        ? json
        : { suggested: "", corrected: json }
    ) as { readonly suggested?: unknown; readonly corrected?: unknown };
    return { field, suggested: textOf(suggested), corrected: textOf(corrected) };
  });
}

/** Lists of tags are kept as JSON. */
function textOf(value: unknown): string {
  const text = typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value);
  return text.slice(0, CORRECTION_CHARACTERS).toWellFormed();
}
