/** The list of suggestions with its filters. Every choice is a link that works without scripts. */
import type { AiResult } from "../../../src/gen/dedup-json.ts";
import { formatCount, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { linkWith, type PageState } from "../page-state.ts";
import { empty } from "../pieces/section.ts";
import { stateText } from "../pieces/state.ts";
import { moment } from "../pieces/time.ts";
import { paging } from "../review/list.ts";
import { problemOf, valueOf } from "../review/load.ts";
import { problemBanner } from "../review/words.ts";
import { changesOf, type FieldChange } from "./fields.ts";
import { CONFIDENCES, readFilters, TABS, type Filters } from "./filters.ts";
import type { Overview, SuggestionsFacts } from "./load.ts";
import { failureOf, formatConfidence, meanConfidence, statusOf } from "./words.ts";

/** The choice of another list closes what is open and begins at the first page. */
const RESET = { offset: undefined, result: undefined } as const;

/** The tabs of the list and the narrowing filters. */
export function filterBar(overview: Overview | undefined, state: PageState): View {
  const filters = readFilters(state.params);
  const shown = filters.status ?? "all";
  const count = overview?.stats.pendingReview ?? 0;
  return html`<div class="stack tight">
    <nav class="segments" aria-label="Suggestions">${TABS.map(([name, label]) => html`<a data-stay href=${linkWith(state, { ...RESET, show: name === "pending" ? undefined : name })} aria-current=${shown === name ? "true" : undefined}>${label}${name === "pending" && count > 0 ? html` <span class="mark">${formatCount(count)}</span>` : undefined}</a>`)}</nav>
    <div class="tools review-tools">
      <label class="filter scripted"><span class="sr">Search titles</span><input type="search" data-param="q" value=${filters.search} placeholder="Search titles" autocomplete="off" spellcheck="false" /></label>
      <nav class="segments" aria-label="Confidence">${CONFIDENCES.map(([value, label]) => html`<a data-stay href=${linkWith(state, { ...RESET, min: value })} aria-current=${(state.params.get("min") ?? undefined) === value ? "true" : undefined}>${label}</a>`)}</nav>
      <span class="actions-inline"><button type="button" class="scripted" data-act="apply-all">Apply all listed …</button><a class="button" href="/suggestions/costs">Costs</a><button type="button" class="scripted quiet" data-open="keys" aria-label="Keyboard shortcuts">?</button></span>
    </div>
  </div>`;
}

/** The rows of this page, and the ways to the pages beside it. */
export function resultList(
  { list, overview }: Pick<SuggestionsFacts, "list" | "overview">,
  selected: string | undefined,
  state: PageState,
): View {
  const read = valueOf(list);
  if (read === undefined) return problemBanner("The suggestions", problemOf(list) ?? "");
  const known = valueOf(overview);
  if (read.data.length === 0)
    return read.meta.total > 0
      ? empty(
          html`<span>There is nothing on this page of the list any more. <a data-stay href=${linkWith(state, RESET)}>Go to the first page</a></span>`,
        )
      : nothing(readFilters(state.params), known, state);
  const { total, offset } = read.meta;
  const all = formatSome(total, "suggestion");
  return html`<div class="table">
    <span class="count" role="status">${read.data.length === total ? all : `${formatCount(offset + 1)} to ${formatCount(offset + read.data.length)} of ${all}`}</span>
    <div class="scroll"><table aria-label="suggestions">
      <thead><tr><th scope="col"><span>Document</span></th><th scope="col"><span>Would change</span></th><th scope="col" class="figure"><span>Confidence</span></th><th scope="col"><span>Status</span></th><th scope="col" class="figure"><span>Made</span></th></tr></thead>
      <tbody>${read.data.map((row) => resultRow(row, known, selected, state))}</tbody></table></div>
    ${paging(read.meta, read.data.length, state)}
  </div>`;
}

function resultRow(
  row: AiResult,
  overview: Overview | undefined,
  selected: string | undefined,
  state: PageState,
): View {
  const { id, documentTitle, createdAt } = row;
  const isOpen = state.params.get("result") === id;
  return html`<tr key=${id} class=${id === selected ? "selected" : undefined} data-row=${id}>
    <td data-label="Document"><a class="row-link" data-stay data-step href=${linkWith(state, { result: id })} aria-current=${isOpen ? "true" : undefined}>${documentTitle === "" ? "without a title" : documentTitle}</a></td>
    <td data-label="Would change">${changesText(row, overview)}</td>
    <td class="figure" data-label="Confidence">${formatConfidence(meanConfidence(row))}</td>
    <td data-label="Status">${stateText(...statusOf(row))}</td>
    <td class="figure" data-label="Made">${moment(createdAt ?? undefined, state)}</td>
  </tr>`;
}

function changesText(row: AiResult, overview: Overview | undefined): Child {
  if (row.appliedStatus === "failed") return html`<span class="muted">${failureOf(row)}</span>`;
  const rules = overview?.config ?? { tagMode: "merge", protectedTagNames: [] };
  const changes = changesOf(row, rules).filter((change) => change.changes);
  return changes.length === 0
    ? html`<span class="muted">nothing</span>`
    : changes.map(shortly).join("; ");
}

function shortly({ field, label, suggested, added, removed }: FieldChange): string {
  return field === "tags"
    ? [...added.map((tag) => `+${tag}`), ...removed.map((tag) => `−${tag}`)].join(" ")
    : `${label} ${suggested[0] ?? ""}`;
}

function nothing(filters: Filters, overview: Overview | undefined, state: PageState): View {
  if (filters.search !== "" || filters.minConfidence !== undefined)
    return empty(
      html`<span>No suggestion matches. <a data-stay href=${linkWith(state, { ...RESET, q: undefined, min: undefined })}>Show all of this list</a></span>`,
    );
  if (overview !== undefined && overview.stats.totalProcessed === 0)
    return empty(
      overview.stats.unprocessed === 0
        ? html`<span>No documents were read yet: sync an archive on the page <a href="/duplicates">Duplicates</a> first.</span>`
        : html`<span>The model was asked about no document yet. ${formatSome(overview.stats.unprocessed, "document")} ${overview.stats.unprocessed === 1 ? "waits" : "wait"}: <strong>Ask the model</strong> above shows what it would cost first.</span>`,
    );
  return empty(
    filters.status === "pending"
      ? "Every suggestion is reviewed."
      : "There is no suggestion in this state.",
  );
}
