/**
 * The top of `/duplicates`: when the archives were synced and analysed, the job that runs, and what
 * keeps the list from being up to date.
 */
import type { Job } from "../../../src/gen/dedup-json.ts";
import { formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { jobBanner, type JobProgress } from "../pieces/job.ts";
import { moment } from "../pieces/time.ts";
import type { Activity, DuplicatesFacts } from "./load.ts";
import { problemOf, valueOf } from "./load.ts";
import { banner, problemBanner } from "./words.ts";

/** A running job as its event stream reports it. */
export interface Progress extends JobProgress {
  readonly type: "sync" | "analysis";
}

export function head(
  { activity }: Pick<DuplicatesFacts, "activity">,
  progress: Progress | undefined,
  state: PageState,
): View {
  const known = valueOf(activity);
  return html`<div class="stack tight">
    <div class="row review-head"><h2>Duplicates</h2>${known === undefined ? undefined : activityLine(known, progress, state)}</div>
    ${known === undefined ? problemBanner("The state of the archives", problemOf(activity) ?? "") : notices(known, progress, state)}
  </div>`;
}

function activityLine(activity: Activity, progress: Progress | undefined, state: PageState): View {
  const { sync, analysis } = activity;
  const running = progress !== undefined || sync.isSyncing || analysis.isAnalyzing;
  return html`<div class="activity"><span class="muted">${sync.lastSyncAt === null ? "Not synced yet" : html`<span>Synced ${moment(sync.lastSyncAt, state)}</span>`}, ${analysis.lastAnalysisAt === null ? "not analysed yet" : html`<span>analysed ${moment(analysis.lastAnalysisAt, state)}</span>`}.</span>
    <a href="/settings/dedup">Settings</a><span class="actions-inline scripted"><button type="button" data-act="sync" disabled=${running}>Sync</button><button type="button" data-act="analyse" disabled=${running}>Analyse</button></span></div>`;
}

function notices(activity: Activity, progress: Progress | undefined, state: PageState): Child {
  const { sync, analysis, waiting, failed } = activity;
  const job = progress ?? jobWithoutProgress(activity);
  return [
    job === undefined ? undefined : jobBanner(RUNNING[job.type], job),
    ...failed.map((each) => failedBanner(each, state)),
    job === undefined && waiting > 0 && analysis.lastAnalysisAt !== null
      ? banner(
          "notice",
          html`<span><strong>The groups are older than the documents.</strong> ${formatSome(waiting, "document")} ${waiting === 1 ? "is" : "are"} new or changed since the last analysis: groups with ${waiting === 1 ? "it" : "them"} may be missing or outdated. <a href="/documents?waiting=true">Show</a></span>`,
          html`<button type="button" data-act="analyse">Analyse now</button>`,
        )
      : undefined,
    job === undefined && analysis.lastAnalysisAt !== null && analysis.analysisStale
      ? banner(
          "notice",
          html`<span><strong>The groups are from other settings.</strong> The settings of the analysis changed since the last one: it may find other groups now.</span>`,
          html`<button type="button" data-act="analyse">Analyse now</button>`,
        )
      : undefined,
    ...analysis.warnings.map((warning) => banner("notice", warning)),
    job === undefined && sync.lastSyncAt !== null && analysis.lastAnalysisAt === null
      ? banner(
          "notice",
          html`<span><strong>Not analysed yet.</strong> ${formatSome(sync.totalDocuments, "document")} ${sync.totalDocuments === 1 ? "was" : "were"} read; an analysis finds the groups.</span>`,
          html`<button type="button" data-act="analyse">Analyse now</button>`,
        )
      : undefined,
  ];
}

/** A job that runs, before its event stream says how far it is. */
function jobWithoutProgress({ sync, analysis }: Activity): Progress | undefined {
  const [type, jobId] = sync.isSyncing
    ? (["sync", sync.currentJobId] as const)
    : (["analysis", analysis.isAnalyzing ? analysis.currentJobId : null] as const);
  return jobId === null
    ? undefined
    : { jobId, type, progress: Number.NaN, message: "", lost: false };
}

const RUNNING = { sync: "Syncing the archives", analysis: "Analysing the documents" } as const;

function failedBanner({ type, errorMessage, completedAt }: Job, state: PageState): View {
  const [what, verb] =
    type === "sync" ? (["sync", "sync"] as const) : (["analysis", "analyse"] as const);
  return banner(
    "bad",
    html`<span><strong>The last ${what} failed</strong> ${moment(completedAt ?? undefined, state, "")}: ${errorMessage ?? "the log says why"}. What is shown is from the one before.</span>`,
    html`<button type="button" data-act=${verb}>Try again</button>`,
  );
}
