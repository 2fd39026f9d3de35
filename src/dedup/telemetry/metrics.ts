/**
 * The document service's own metrics. Those read from a Paperless-ngx are in
 * `../paperless/figures/metrics.ts`; `svc.jobs_total` is the process's.
 */
import { catalogue, defineMetric } from "../../kernel/telemetry/catalogue.ts";
import type { AnyRow } from "../../kernel/telemetry/types.ts";
import { paperlessMetrics } from "../paperless/figures/metrics.ts";

/** From a sync without changes to a first analysis of 100,000 documents. */
const RUN_SECONDS = [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600, 14_400] as const;
const MODEL_SECONDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300] as const;

const dedup = { group: "Documents and duplicates" } as const;
const ai = {
  group: "AI suggestions",
  when: "AI is on (`dedup.ai.enabled`)",
} as const;

/** `status` is inserted, updated, skipped (known and unchanged) or failed (could not be read). */
export const syncDocuments = defineMetric({
  ...dedup,
  name: "svc.sync.documents_total",
  kind: "counter",
  unit: "{document}",
  attributes: ["status"],
  help: "Documents that syncs read, by status: inserted, updated, skipped (unchanged), failed.",
});
/** `outcome` is success or failure; a cancelled run is in `svc.jobs_total` only. */
export const syncRuns = defineMetric({
  ...dedup,
  name: "svc.sync.runs_total",
  kind: "counter",
  unit: "{run}",
  attributes: ["outcome"],
  help: "Finished syncs by outcome: success, or failure when an archive could not be read or nothing in it could.",
});
export const syncDuration = defineMetric({
  ...dedup,
  name: "svc.sync.duration_seconds",
  kind: "histogram",
  unit: "s",
  bounds: RUN_SECONDS,
  help: "Run time of finished syncs.",
});
export const syncLastSuccess = defineMetric({
  ...dedup,
  name: "svc.sync.last_success",
  kind: "gauge",
  unit: "s",
  help: "Begin of the last completed sync, in seconds since 1970; absent before the first.",
});
export const syncInterval = defineMetric({
  ...dedup,
  name: "svc.sync.interval",
  kind: "gauge",
  unit: "s",
  help: "Time between automatic syncs; 0 without them.",
});
/** Checked for each collection, and not by a sync. */
export const archiveReadable = defineMetric({
  ...dedup,
  name: "svc.archive.readable",
  kind: "gauge",
  unit: "1",
  attributes: ["archive"],
  help: "1 when the archive could be reached at the last check, else 0.",
});
export const analysisRuns = defineMetric({
  ...dedup,
  name: "svc.analysis.runs_total",
  kind: "counter",
  unit: "{run}",
  attributes: ["outcome"],
  help: "Finished analyses by outcome: success, failure.",
});
export const analysisDuration = defineMetric({
  ...dedup,
  name: "svc.analysis.duration_seconds",
  kind: "histogram",
  unit: "s",
  bounds: RUN_SECONDS,
  help: "Run time of finished analyses.",
});
export const analysisStageDuration = defineMetric({
  ...dedup,
  name: "svc.analysis.stage.duration_seconds",
  kind: "histogram",
  unit: "s",
  attributes: ["stage"],
  bounds: RUN_SECONDS,
  help: "Time that an analysis spent in a stage: load, signatures, candidates, scoring, grouping, writing, finish.",
});
export const jobsActive = defineMetric({
  ...dedup,
  name: "svc.jobs.active_count",
  kind: "gauge",
  unit: "{job}",
  help: "Jobs of the document service that are pending or running.",
});
export const documentsCount = defineMetric({
  ...dedup,
  name: "svc.documents_count",
  kind: "gauge",
  unit: "{document}",
  help: "Documents in the store.",
});
export const unresolvedCount = defineMetric({
  ...dedup,
  name: "svc.duplicates.unresolved_count",
  kind: "gauge",
  unit: "{group}",
  help: "Duplicate groups that are pending.",
});
/** `status_code` is `none` when no response came. Each attempt counts. */
export const paperlessRequests = defineMetric({
  ...dedup,
  name: "svc.paperless.requests_total",
  kind: "counter",
  unit: "{request}",
  attributes: ["method", "status_code"],
  help: "Requests to Paperless-ngx by method and status code; none stands for no response.",
  when: "an archive is a Paperless-ngx",
});
export const aiDocuments = defineMetric({
  ...ai,
  name: "svc.ai.documents_total",
  kind: "counter",
  unit: "{document}",
  attributes: ["outcome", "gen_ai.system"],
  help: "Documents of AI runs by outcome (succeeded, failed, skipped) and provider.",
});
export const aiTokens = defineMetric({
  ...ai,
  name: "svc.ai.tokens_total",
  kind: "counter",
  unit: "{token}",
  attributes: ["gen_ai.token.type", "gen_ai.system"],
  help: "Tokens of model requests by type (input, output, cached) and provider; input includes cached.",
});
export const aiRuns = defineMetric({
  ...ai,
  name: "svc.ai.runs_total",
  kind: "counter",
  unit: "{run}",
  attributes: ["outcome"],
  help: "Finished AI runs by outcome: success, failure.",
});
export const aiApply = defineMetric({
  ...ai,
  name: "svc.ai.apply_total",
  kind: "counter",
  unit: "{result}",
  attributes: ["status"],
  help: "AI results that were applied, rejected or reverted, and attempts that failed, by status.",
});
export const aiDocumentDuration = defineMetric({
  ...ai,
  name: "svc.ai.document_duration_seconds",
  kind: "histogram",
  unit: "s",
  bounds: MODEL_SECONDS,
  help: "Time to a model's answer for one document, retries included.",
});
export const aiBatchDuration = defineMetric({
  ...ai,
  name: "svc.ai.batch_duration_seconds",
  kind: "histogram",
  unit: "s",
  bounds: RUN_SECONDS,
  help: "Run time of finished AI runs.",
});
export const aiPending = defineMetric({
  ...ai,
  name: "svc.ai.pending_count",
  kind: "gauge",
  unit: "{result}",
  help: "AI results that wait for a review.",
});

/** All metrics of the document service. */
export const dedupMetrics: readonly AnyRow[] = catalogue(
  [syncDocuments, syncRuns, syncDuration, syncLastSuccess, syncInterval, archiveReadable],
  [analysisRuns, analysisDuration, analysisStageDuration],
  [jobsActive, documentsCount, unresolvedCount, paperlessRequests],
  [aiDocuments, aiTokens, aiRuns, aiApply, aiDocumentDuration, aiBatchDuration, aiPending],
  paperlessMetrics,
);
