/**
 * The page `/settings/dedup`: the settings of the analysis with what a change will recalculate, those
 * of AI suggestions, and the archives with a test of their connection. Rendered by the server, then
 * by the browser after each change.
 */
import type { AnalysisStatus, DedupConfigPreview, Setting } from "../../../src/gen/dedup-json.ts";
import { formatCount, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { jobBanner, type JobProgress } from "../pieces/job.ts";
import { part } from "../pieces/section.ts";
import { stateIcon } from "../pieces/state.ts";
import { problemOf, valueOf } from "../review/load.ts";
import { banner, problemBanner } from "../review/words.ts";
import {
  archivesPart,
  providersPart,
  type ArchiveTests,
  type ProviderTests,
} from "./connections.ts";
import { formActions, NO_DRAFT, settingRows, type Draft } from "./form.ts";
import type { SettingsFacts } from "./load.ts";
import { AI_LABELS, ANALYSIS_LABELS, PREFIXES, type FormName } from "./words.ts";

/** What only the browser knows. */
export interface SettingsMarks {
  readonly draft: Draft;
  /** Of the changed analysis settings; undefined while it is not known. */
  readonly preview: DedupConfigPreview | undefined;
  readonly progress: JobProgress | undefined;
  /** What the analysis that this page followed did. */
  readonly done: AnalysisCounts | undefined;
  readonly archiveTests: ArchiveTests;
  readonly providerTests: ProviderTests;
}

/** Of groups, as the analysis job's result has them. */
export interface AnalysisCounts {
  readonly groupsCreated: number;
  readonly groupsUpdated: number;
  readonly groupsRemoved: number;
}

const NONE: SettingsMarks = {
  draft: NO_DRAFT,
  preview: undefined,
  progress: undefined,
  done: undefined,
  archiveTests: new Map(),
  providerTests: new Map(),
};

/** `ai`: a language model makes suggestions. */
export function settingsPage(
  facts: SettingsFacts,
  { ai }: { readonly ai: boolean },
  marks: SettingsMarks = NONE,
): View {
  const settings = valueOf(facts.settings);
  return html`<div class="stack review">
    <div class="row review-head"><h2>Settings of the document service</h2><a href="/duplicates">Back to the groups</a></div>
    ${notices(valueOf(facts.analysis), marks)}
    ${
      settings === undefined
        ? problemBanner("The settings", problemOf(facts.settings) ?? "")
        : [analysisForm(settings, marks), ai ? aiForm(settings, marks) : undefined]
    }
    ${archivesPart(facts.archives, marks.archiveTests)}
    ${facts.providers === undefined ? undefined : providersPart(facts.providers, marks.providerTests)}
    ${settings === undefined ? undefined : filePart()}
  </div>`;
}

function notices(
  analysis: AnalysisStatus | undefined,
  { progress, done }: Pick<SettingsMarks, "progress" | "done">,
): Child {
  if (progress !== undefined) return jobBanner("Analysing the documents", progress);
  if (done !== undefined && analysis?.analysisStale === false)
    return banner(
      "good",
      html`<span role="status"><strong>The analysis has ended.</strong> ${formatSome(done.groupsCreated, "group")} found, ${formatCount(done.groupsUpdated)} changed, ${formatCount(done.groupsRemoved)} gone. <a href="/duplicates">Review</a></span>`,
    );
  return analysis?.analysisStale === true && !analysis.isAnalyzing
    ? banner(
        "notice",
        html`<span><strong>The groups are from other settings.</strong> An analysis with those in effect now may find other groups. Decisions are kept.</span>`,
        html`<button type="button" data-act="analyse">Analyse now</button>`,
      )
    : undefined;
}

function analysisForm(settings: readonly Setting[], { draft, preview }: SettingsMarks): View {
  const changes = changesOf(draft, "analysis");
  return html`<form class="panel" novalidate data-form="analysis" aria-label="Analysis">${part(
    "Analysis",
    settingRows(settings, ANALYSIS_LABELS, draft),
    html`<span>How documents are compared, and which pairs form a group. <code>docs/dedup.md</code> explains the scores.</span>`,
  )}${formActions("analysis", changes > 0, effects(changes, draft, preview))}</form>`;
}

function changesOf({ values }: Draft, form: FormName): number {
  return [...values.keys()].filter((name) => name.startsWith(PREFIXES[form])).length;
}

function hasProblem({ problems }: Draft, form: FormName): boolean {
  return [...problems.keys()].some((name) => name.startsWith(PREFIXES[form]));
}

/** What saving the changed settings would recalculate. */
function effects(changes: number, draft: Draft, preview: DedupConfigPreview | undefined): Child {
  if (changes === 0) return html`<p class="note">Nothing is changed.</p>`;
  if (hasProblem(draft, "analysis"))
    return html`<p class="error">A value is not valid: nothing can be saved.</p>`;
  if (preview === undefined) return html`<p class="note">Looking what this would recalculate …</p>`;
  const { recalculatedGroups, analysisStale, warnings } = preview;
  return html`<ul class="effects">
    ${recalculatedGroups > 0 ? html`<li>${stateIcon("notice")}<span>Saving recalculates the scores of ${formatSome(recalculatedGroups, "group")} at once.</span></li>` : undefined}
    ${analysisStale ? html`<li>${stateIcon("notice")}<span>Other groups may be found: an analysis is needed after saving. Until then the groups stay as they are.</span></li>` : undefined}
    ${recalculatedGroups === 0 && !analysisStale ? html`<li>${stateIcon("good")}<span>Nothing is recalculated, and the groups stay.</span></li>` : undefined}
    ${warnings.map((warning) => html`<li>${stateIcon("notice")}<span>${warning}</span></li>`)}
  </ul>`;
}

function aiForm(settings: readonly Setting[], { draft }: SettingsMarks): View {
  const changes = changesOf(draft, "ai");
  const effect = hasProblem(draft, "ai")
    ? html`<p class="error">A value is not valid: nothing was saved.</p>`
    : html`<p class="note">${changes === 0 ? "Nothing is changed." : "Nothing is recalculated."}</p>`;
  return html`<form class="panel" novalidate data-form="ai" aria-label="AI suggestions">${part(
    "AI suggestions",
    settingRows(settings, AI_LABELS, draft),
    html`<span>They hold from the next run on. Keys of providers are in the configuration file and never shown. <a href="/suggestions/costs">Costs</a></span>`,
  )}${formActions("ai", changes > 0, effect)}</form>`;
}

function filePart(): View {
  return html`<div class="panel">${part(
    "As a file",
    html`<div class="actions-inline"><a href="/api/v1/export/config.json" download="steward-settings.json">Download the settings</a><label class="scripted file">Take over a file <input type="file" accept="application/json,.json" data-import /></label></div>`,
    "Without credentials. A file of another Steward replaces the settings that it names.",
  )}</div>`;
}
