/**
 * What the document service reports: counts as they happen, levels at each collection. Everything
 * is written in the process's main thread, so that scrapes and pushes show the same.
 */
import type { Job } from "../../kernel/jobs/types.ts";
import type { AttemptReport } from "../../kernel/client/types.ts";
import type { Scope } from "../../kernel/telemetry/types.ts";
import type { Tracing } from "../../kernel/telemetry/tracing/tracing.ts";
import { whileReadable } from "../../kernel/state/while-readable.ts";
import type { ProviderName } from "../ai/keys.ts";
import {
  aiApply,
  aiBatchDuration,
  aiDocumentDuration,
  aiDocuments,
  aiPending,
  aiRuns,
  aiTokens,
  analysisDuration,
  analysisRuns,
  analysisStageDuration,
  archiveReadable,
  documentsCount,
  jobsActive,
  paperlessRequests,
  syncDocuments,
  syncDuration,
  syncInterval,
  syncLastSuccess,
  syncRuns,
  unresolvedCount,
} from "./metrics.ts";

/** Where measurements and spans go. */
export interface DedupTelemetry {
  readonly scope: Scope;
  /** Absent while tracing is off. */
  readonly tracing?: Pick<Tracing, "within"> | undefined;
}

/** Documents of a sync so far. */
export interface SyncCounts {
  readonly inserted: number;
  readonly updated: number;
  /** Known and unchanged. */
  readonly skipped: number;
  readonly failed: number;
}

/** One answered document, whatever the answer was. */
interface AnsweredDocument {
  readonly provider: ProviderName;
  readonly isFailed: boolean;
  /** Absent when no request was made. */
  readonly spent?:
    | {
        readonly promptTokens: number;
        readonly completionTokens: number;
        readonly cachedTokens: number;
        readonly processingTimeMs: number;
      }
    | undefined;
}

type AppliedStatus = "applied" | "rejected" | "failed" | "reverted";

/** Levels, read at each collection. */
interface DedupLevels {
  readonly documents: () => number;
  readonly pendingGroups: () => number;
  /** Undefined before the first sync. */
  readonly lastSyncAtMs: () => number | undefined;
  /** 0 without automatic syncs. */
  readonly syncIntervalMs: number;
  readonly archives: () => readonly { readonly name: string; readonly readable: boolean }[];
  /** Undefined while AI is off. */
  readonly pendingResults: () => number | undefined;
}

export interface DedupReport {
  /** A counter of one sync; `counts` are totals of that sync and never fall. */
  sync(before: SyncCounts): (counts: SyncCounts) => void;
  /** A job's status has changed. */
  jobChanged(job: Job): void;
  stage(name: string, durationMs: number): void;
  requested(report: Pick<AttemptReport, "method" | "status" | "class">): void;
  answered(document: AnsweredDocument): void;
  /** Documents of an AI run that were not sent to the model. */
  skipped(provider: ProviderName, count: number): void;
  applied(status: AppliedStatus, count?: number): void;
  /** Reports levels until disposed. */
  observe(levels: DedupLevels): Disposable;
  /** Runs inside a span; without tracing it only runs. */
  span<T>(
    name: string,
    attributes: Readonly<Record<string, string | number>>,
    run: () => Promise<T>,
  ): Promise<T>;
}

const MILLISECONDS = 1_000;
const STATUSES = ["inserted", "updated", "skipped", "failed"] as const;
const OUTCOMES = ["success", "failure"] as const;
const APPLIED: readonly AppliedStatus[] = ["applied", "rejected", "failed", "reverted"];

/** Counters begin at 0, so that the first increase can be seen. Without telemetry nothing is kept. */
export function createDedupReport(
  telemetry: DedupTelemetry | undefined,
  { ai }: { readonly ai: boolean },
): DedupReport {
  const scope = telemetry?.scope;
  const active = new Set<string>();
  for (const status of STATUSES) scope?.add(syncDocuments, 0, { status });
  for (const outcome of OUTCOMES) {
    scope?.add(syncRuns, 0, { outcome });
    scope?.add(analysisRuns, 0, { outcome });
    if (ai) scope?.add(aiRuns, 0, { outcome });
  }
  if (ai) for (const status of APPLIED) scope?.add(aiApply, 0, { status });
  const runs = {
    sync: { row: syncRuns, duration: syncDuration },
    analysis: { row: analysisRuns, duration: analysisDuration },
    ai_processing: { row: aiRuns, duration: aiBatchDuration },
  } as const;

  return {
    sync(before) {
      let last = before;
      return (counts) => {
        for (const status of STATUSES) {
          const delta = counts[status] - last[status];
          if (delta > 0) scope?.add(syncDocuments, delta, { status });
        }
        last = counts;
      };
    },
    jobChanged(job) {
      const { id, type, status, startedAtMs, completedAtMs } = job;
      if (status === "pending" || status === "running") active.add(id);
      else active.delete(id);
      if (status !== "completed" && status !== "failed") return;
      const run = Object.hasOwn(runs, type) ? runs[type as keyof typeof runs] : undefined;
      if (run === undefined) return;
      const isFailure = status === "failed" || (type === "sync" && hasReadNothing(job));
      scope?.add(run.row, 1, { outcome: isFailure ? "failure" : "success" });
      // The wall clock may have been set back meanwhile.
      if (startedAtMs !== undefined && completedAtMs !== undefined)
        scope?.record(run.duration, Math.max(0, completedAtMs - startedAtMs) / MILLISECONDS, {});
    },
    stage: (stage, durationMs) =>
      scope?.record(analysisStageDuration, durationMs / MILLISECONDS, { stage }),
    requested({ method, status, class: failure }) {
      if (failure === "cancelled") return;
      const code = status === 0 ? "none" : String(status);
      scope?.add(paperlessRequests, 1, { method, status_code: code });
    },
    answered({ provider, isFailed, spent }) {
      const system = { "gen_ai.system": provider };
      scope?.add(aiDocuments, 1, { ...system, outcome: isFailed ? "failed" : "succeeded" });
      if (spent === undefined) return;
      const tokens = [
        ["input", spent.promptTokens],
        ["output", spent.completionTokens],
        ["cached", spent.cachedTokens],
      ] as const;
      for (const [type, count] of tokens)
        scope?.add(aiTokens, count, { ...system, "gen_ai.token.type": type });
      scope?.record(aiDocumentDuration, spent.processingTimeMs / MILLISECONDS, {});
    },
    skipped(provider, count) {
      if (count > 0)
        scope?.add(aiDocuments, count, { outcome: "skipped", "gen_ai.system": provider });
    },
    applied(status, count = 1) {
      if (count > 0) scope?.add(aiApply, count, { status });
    },
    observe: ({ documents, pendingGroups, pendingResults, ...sync }) =>
      scope?.observe(() => {
        scope.gauge(documentsCount, documents(), {});
        scope.gauge(unresolvedCount, pendingGroups(), {});
        scope.gauge(jobsActive, active.size, {});
        const syncedMs = whileReadable(sync.lastSyncAtMs);
        if (syncedMs !== undefined) scope.gauge(syncLastSuccess, syncedMs / MILLISECONDS, {});
        scope.gauge(syncInterval, sync.syncIntervalMs / MILLISECONDS, {});
        for (const { name, readable } of sync.archives())
          scope.gauge(archiveReadable, readable ? 1 : 0, { archive: name });
        const results = pendingResults();
        if (results !== undefined) scope.gauge(aiPending, results, {});
      }) ?? { [Symbol.dispose]: () => undefined },
    span: (name, attributes, run) =>
      telemetry?.tracing === undefined
        ? run()
        : telemetry.tracing.within({ name, attributes }, run),
  };
}

/** Whether a completed sync met failures and read no document. */
function hasReadNothing({ resultJson }: Job): boolean {
  const result = JSON.parse(resultJson ?? "{}") as Readonly<Record<string, unknown>>;
  return Number(result["failed"]) > 0 && Number(result["totalFetched"]) === 0;
}
