/** Groups as one HTML file: what was found, why, and where the texts of a group differ. */
import { formatCount, formatSome } from "../../../../gateway/web/format.ts";
import { html, type View } from "../../../../gateway/web/html.ts";
import { figures } from "../../../../gateway/web/pieces/card.ts";
import { empty } from "../../../../gateway/web/pieces/section.ts";
import { reportDocument } from "../../../../gateway/web/report/document.ts";
import type { ReportableGroup } from "../../../dedup/analysis/outcome.ts";
import { nextTurn } from "../../../kernel/async/turns.ts";
import { printable } from "../../../kernel/base/text/printable.ts";
import { formatElapsed } from "../text.ts";
import type { ReportSummary } from "../types.ts";
import { createDifferences } from "./differences.ts";
import { groupView } from "./group.ts";

/** What the report is made from. */
export interface HtmlReport {
  readonly summary: ReportSummary;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The most confident first. */
  readonly groups: readonly ReportableGroup[];
  /** The text of a document; empty when it is gone. */
  readonly text: (number: number) => string;
  /** When the run ended. */
  readonly atMs: number;
  readonly signal: AbortSignal;
}

/** A page of more groups is no longer one that a person goes through. */
const MAX_GROUPS = 1_000;
/** Notes and parameters are a glance; `--json` has all. */
const MAX_NOTES = 20;

/** The file in pieces. Rejects with the signal's reason. */
export async function* formatHtml(report: HtmlReport): AsyncGenerator<string> {
  const made = new Date(report.atMs).toISOString();
  yield* reportDocument({
    title: "Near-duplicates",
    about: `report of ${made.slice(0, 10)} ${made.slice(11, 16)} UTC`,
    parts: parts(report),
  });
}

async function* parts(report: HtmlReport): AsyncGenerator<View> {
  const { groups, signal } = report;
  const shown = groups.slice(0, MAX_GROUPS);
  yield head(report);
  if (shown.length > 0) yield tools(shown.length);
  yield html`<p class="empty" data-nothing hidden>No group matches. <button type="button" class="small" data-show-all>Show all</button></p>`;
  const differences = createDifferences(report.text);
  for (const [at, group] of shown.entries()) {
    yield groupView(group, at + 1, differences);
    await nextTurn(signal);
  }
  yield keysDialog();
}

function head({ summary, parameters, groups }: HtmlReport): View {
  const skipped = Object.values(summary.skipped).reduce((sum, count) => sum + count, 0);
  const cut = groups.length - MAX_GROUPS;
  return html`<section class="part"><h2>Near-duplicates</h2>
    <div class="totals panel">${figures([
      { label: "Documents", value: formatCount(summary.documents) },
      { label: "Groups", value: formatCount(summary.groups) },
      { label: "Pairs", value: formatCount(summary.pairs) },
      { label: "Skipped", value: formatCount(skipped) },
    ])}</div>
    ${cut > 0 ? html`<p class="banner notice">The first ${formatCount(MAX_GROUPS)} of ${formatSome(groups.length, "group")} are shown, the most alike first. All of them are in the output of --csv and --json.</p>` : undefined}
    ${groups.length === 0 ? empty("No near-duplicates were found.") : undefined}
    ${about(summary, parameters)}
  </section>`;
}

function about(
  { skipped, notes, durationMs }: ReportSummary,
  parameters: HtmlReport["parameters"],
): View {
  const shown = notes.slice(0, MAX_NOTES);
  return html`<details class="run"><summary>About this run</summary>
    <dl class="key-values">${[
      ["duration", formatElapsed(durationMs)],
      ...Object.entries(skipped).map(([reason, count]) => [
        `skipped: ${printable(reason)}`,
        formatCount(count),
      ]),
      ...Object.entries(parameters)
        .filter(([, value]) => typeof value === "number")
        .map(([name, value]) => [name, String(value)]),
    ].map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    ${shown.length === 0 ? undefined : html`<ul class="notes">${shown.map((note) => html`<li>${printable(note)}</li>`)}${notes.length > shown.length ? html`<li>and ${formatSome(notes.length - shown.length, "more note")}</li>` : undefined}</ul>`}
  </details>`;
}

function tools(groups: number): View {
  const kinds = [
    ["", "All"],
    ["exact", "Exact copies"],
    ["near", "Near-duplicates"],
  ] as const;
  return html`<div class="tools scripted">
    <label class="filter"><span class="sr">Search names, titles and reasons</span><input type="search" data-search placeholder="Search names, titles and reasons" autocomplete="off" spellcheck="false" /></label>
    <div class="segments" role="group" aria-label="Kind of group">${kinds.map(([value, label]) => html`<button type="button" data-kind-filter value=${value} aria-pressed=${value === "" ? "true" : "false"}>${label}</button>`)}</div>
    <span class="count" role="status" data-count>${formatSome(groups, "group")}</span>
    <button type="button" class="small" data-open="keys">Keys</button>
  </div>`;
}

const KEYS: readonly (readonly [keys: readonly string[], effect: string])[] = [
  [["j", "k"], "next and previous group"],
  [["Enter"], "show or hide the differences of the group"],
  [["/"], "search"],
  [["Esc"], "leave the search"],
  [["?"], "this help"],
];

function keysDialog(): View {
  return html`<dialog id="dialog-keys" data-dialog="keys" class="keys" aria-labelledby="dialog-keys-title">
    <h2 id="dialog-keys-title">Keyboard</h2>
    <dl>${KEYS.map(([keys, effect]) => html`<div><dt>${keys.map((key) => html`<kbd>${key}</kbd>`)}</dt><dd>${effect}</dd></div>`)}</dl>
    <div class="actions"><button type="button" class="quiet" data-keys>Switch single keys off</button><button type="button" data-answer="no">Close</button></div>
  </dialog>`;
}
