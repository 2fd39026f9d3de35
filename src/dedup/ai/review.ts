/** What a reviewer does with results apart from applying them. */
import { AiResultStatus, type AiResultFilter } from "../../gen/steward/dedup/v1/ai_pb.ts";
import type { AiScope } from "../../gen/steward/dedup/v1/ai_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import { boundedBatches } from "../../kernel/base/batches.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Env } from "../../kernel/state/types.ts";
import { aiResults } from "../tables.ts";
import type { DedupReport } from "../telemetry/report.ts";
import { isAppliable, statusName } from "./result-names.ts";
import { addFeedback } from "./feedback.ts";
import type { ResultEntry, ResultFilter } from "./result-index.ts";
import { busy, resultById, type ResultStore } from "./result-store.ts";
import { isNarrowing, scopeTypeOf } from "./scope.ts";

export interface ReviewDeps {
  readonly env: Env;
  readonly results: ResultStore;
  readonly clock: Clock;
  readonly report: Pick<DedupReport, "applied">;
}

/** Rows read or changed at once. */
const BATCH = 200;
/** A transaction stays under 1 MiB; a row repeats the tags of its document up to four times. */
const BATCH_BYTES = 256 * 1024;

/** Throws `not_found`, and `conflict` unless it is pending and nobody applies it. */
export async function rejectOne(
  { env, results, clock, report }: ReviewDeps,
  id: string,
  reason: string,
): Promise<void> {
  await env.write((tx) => {
    const row = resultById(tx, id);
    if (row.status !== AiResultStatus.PENDING)
      throw new StewardError(
        "conflict",
        `AI result ${row.id} is ${statusName(row.status)}; only pending ones can be rejected`,
      );
    if (results.isClaimed(row.docNo)) throw busy(row.id);
    row.status = AiResultStatus.REJECTED;
    if (reason !== "") row.rejectionReason = reason;
    results.put(tx, row);
    addFeedback(tx, { resultId: row.id, action: "rejected", reason, atMs: clock.now() });
  });
  report.applied("rejected");
}

/** A result that somebody chose. Its document may get another one at any time. */
export type ChosenResult = Pick<ResultEntry, "docNo" | "id">;

/** Rejects those that are pending, not being applied and not replaced; their number. */
export async function rejectMany(
  { env, results, report }: ReviewDeps,
  chosen: readonly ChosenResult[],
): Promise<number> {
  let rejected = 0;
  const sizesOf = ({ docNo }: ChosenResult): number[] => {
    const row = results.row(docNo);
    return [1, row === undefined ? 0 : aiResults.value.write(row).byteLength];
  };
  for (const some of boundedBatches(chosen, [BATCH, BATCH_BYTES], sizesOf)) {
    const changed = await env.write((tx) => {
      let count = 0;
      for (const { docNo, id } of some) {
        const row = tx.get(aiResults, docNo);
        if (row?.id !== id || row.status !== AiResultStatus.PENDING) continue;
        if (results.isClaimed(docNo)) continue;
        row.status = AiResultStatus.REJECTED;
        results.put(tx, row);
        count += 1;
      }
      return count;
    });
    report.applied("rejected", changed);
    rejected += changed;
  }
  return rejected;
}

/** The results with these ids; unknown ids are left out. */
export async function chosenOf(
  env: Env,
  ids: readonly string[],
  signal: AbortSignal,
): Promise<ChosenResult[]> {
  const turns = new Turns();
  const chosen: ChosenResult[] = [];
  for (let at = 0; at < ids.length; at += BATCH) {
    if (turns.over) await turns.give(signal);
    const some = ids.slice(at, at + BATCH).filter((id) => id.length <= 64);
    chosen.push(
      ...env.read((snapshot) =>
        some.flatMap((id) => snapshot.find(aiResults, "id", [id]).map((docNo) => ({ docNo, id }))),
      ),
    );
  }
  return chosen;
}

type FilterFields = Pick<
  AiResultFilter,
  "status" | "search" | "failed" | "minConfidence" | "maxConfidence" | "provider" | "model"
>;

export function filterOf(fields: FilterFields): ResultFilter {
  const { status, search, failed, minConfidence, maxConfidence, provider, model } = fields;
  const statuses: AiResultStatus[] = [
    ...(status === AiResultStatus.UNSPECIFIED ? [] : [status]),
    ...(failed ? [AiResultStatus.FAILED] : []),
  ];
  // Two that differ exclude each other.
  const only = new Set(statuses).size > 1 ? [] : statuses;
  return {
    ...(statuses.length === 0 ? {} : { statuses: new Set(only) }),
    ...(search === "" ? {} : { search }),
    ...(provider === "" ? {} : { provider }),
    ...(model === "" ? {} : { model }),
    minConfidence,
    maxConfidence,
  };
}

const scopeTypes = {
  all_pending: undefined,
  current_filter: "filters",
  selected_result_ids: "resultIds",
} as const;

/** The results of a scope that can be applied, newest first. Throws `invalid`. */
export async function entriesOf(
  { results: { index } }: Pick<ReviewDeps, "results">,
  { type, filters, resultIds }: AiScope,
  signal: AbortSignal,
): Promise<ResultEntry[]> {
  const given = { filters: isNarrowing(filters), resultIds: resultIds.length > 0 };
  switch (scopeTypeOf(type, given, scopeTypes)) {
    case "all_pending":
      return await index.select({ statuses: new Set([AiResultStatus.PENDING]) }, signal);
    case "current_filter": {
      const found = await index.select(filters === undefined ? {} : filterOf(filters), signal);
      return found.filter(({ status }) => isAppliable(status));
    }
    case "selected_result_ids": {
      if (resultIds.length === 0)
        throw new StewardError("invalid", "scope.resultIds must name at least one result", {
          field: "scope.resultIds",
        });
      const selected = new Set(resultIds);
      return (await index.select({}, signal)).filter(({ id }) => selected.has(id));
    }
  }
}
