/**
 * The page `/settings/dedup`: the settings of the analysis with what a change will recalculate, those
 * of AI suggestions, and the archives with a test of their connection. Rendered by the server, then
 * by the browser after each change.
 */
import type {
  AnalysisStatus,
  ConfiguredArchive,
  ConnectionTest,
  DedupConfigPreview,
  Setting,
} from "../../../src/gen/dedup-json.ts";
import { formatCount, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { jobBanner, type JobProgress } from "../pieces/job.ts";
import { empty, part } from "../pieces/section.ts";
import { stateIcon } from "../pieces/state.ts";
import { problemOf, valueOf, type Read } from "../review/load.ts";
import { banner, problemBanner } from "../review/words.ts";
import { formActions, NO_DRAFT, settingRows, type Draft } from "./form.ts";
import type { SettingsFacts } from "./load.ts";
import { AI_LABELS, ANALYSIS_LABELS, PREFIXES, type FormName } from "./words.ts";

/** What only the browser knows. */
export interface SettingsMarks {
  readonly draft: Draft;
  /** Of the changed analysis settings; undefined while it is not known. */
  readonly preview: DedupConfigPreview | undefined;
  readonly progress: JobProgress | undefined;
  /** By the archive's name; undefined while it is tested. */
  readonly tests: ReadonlyMap<string, Read<ConnectionTest> | undefined>;
}

const NONE: SettingsMarks = {
  draft: NO_DRAFT,
  preview: undefined,
  progress: undefined,
  tests: new Map(),
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
    ${notices(valueOf(facts.analysis), marks.progress)}
    ${
      settings === undefined
        ? problemBanner("The settings", problemOf(facts.settings) ?? "")
        : [analysisForm(settings, marks), ai ? aiForm(settings, marks) : undefined]
    }
    ${archivesPart(facts.archives, marks.tests)}
    ${settings === undefined ? undefined : filePart()}
  </div>`;
}

function notices(analysis: AnalysisStatus | undefined, progress: JobProgress | undefined): Child {
  if (progress !== undefined) return jobBanner("Analysing the documents", progress);
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

/** What saving the changed settings would recalculate. */
function effects(changes: number, draft: Draft, preview: DedupConfigPreview | undefined): Child {
  if (changes === 0) return html`<p class="note">Nothing is changed.</p>`;
  if ([...draft.problems.keys()].some((name) => name.startsWith(PREFIXES.analysis)))
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
  return html`<form class="panel" novalidate data-form="ai" aria-label="AI suggestions">${part(
    "AI suggestions",
    settingRows(settings, AI_LABELS, draft),
    html`<span>They hold from the next run on. Keys of providers are in the configuration file and never shown. <a href="/suggestions/costs">Costs</a></span>`,
  )}${formActions("ai", changes > 0, html`<p class="note">${changes === 0 ? "Nothing is changed." : "Nothing is recalculated."}</p>`)}</form>`;
}

function archivesPart(
  archives: Read<readonly ConfiguredArchive[]>,
  tests: SettingsMarks["tests"],
): View {
  const list = valueOf(archives);
  return html`<div class="panel">${part(
    "Archives",
    list === undefined
      ? problemBanner("The archives", problemOf(archives) ?? "")
      : list.length === 0
        ? empty(
            html`<span>There is no archive: add one to <code>dedup.archives</code> in the configuration file, and restart.</span>`,
          )
        : archiveTable(list, tests),
    "Addresses and credentials are in the configuration file and never shown.",
  )}</div>`;
}

const KINDS: Readonly<Record<string, string>> = {
  paperless: "Paperless-ngx",
  folder: "folder",
  jsonl: "JSON Lines",
};

function archiveTable(archives: readonly ConfiguredArchive[], tests: SettingsMarks["tests"]): View {
  return html`<div class="table"><div class="scroll"><table aria-label="archives"><thead><tr><th scope="col">Archive</th><th scope="col">Kind</th><th scope="col" class="figure">Documents</th><th scope="col"><span class="sr">Connection</span></th></tr></thead>
    <tbody>${archives.map(({ name, kind, documents }) => html`<tr key=${name}><td data-label="Archive">${name}</td><td data-label="Kind">${KINDS[kind] ?? kind}</td><td class="figure" data-label="Documents">${formatCount(documents)}</td><td data-label="Connection"><div class="connection"><button type="button" class="scripted" data-act="test" data-id=${name} aria-label=${`Test the connection of ${name}`}>Test</button><span role="status">${tests.has(name) ? testResult(tests.get(name)) : undefined}</span></div></td></tr>`)}</tbody></table></div></div>`;
}

function testResult(test: Read<ConnectionTest> | undefined): Child {
  if (test === undefined) return html`<span class="muted">asking …</span>`;
  const answer = valueOf(test);
  if (answer === undefined) return html`<span class="error">${problemOf(test) ?? ""}</span>`;
  const version = answer.version === "" ? "" : ` to version ${answer.version}`;
  return html`<span>${stateIcon("good")} Connected${version}: ${formatSome(answer.documentCount, "document")}.</span>`;
}

function filePart(): View {
  return html`<div class="panel">${part(
    "As a file",
    html`<div class="actions-inline"><a href="/api/v1/export/config.json" download="steward-settings.json">Download the settings</a><label class="scripted file">Take over a file <input type="file" accept="application/json,.json" data-import /></label></div>`,
    "Without credentials. A file of another Steward replaces the settings that it names.",
  )}</div>`;
}
