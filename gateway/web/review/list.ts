/** The list of groups with its filters. Every choice is a link that works without scripts. */
import type { GroupListMeta, GroupSummary } from "../../../src/gen/dedup-json.ts";
import { formatCount, formatPercent, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { linkWith, type PageState } from "../page-state.ts";
import { empty } from "../pieces/section.ts";
import { stateText } from "../pieces/state.ts";
import { moment } from "../pieces/time.ts";
import { CONFIDENCES, readFilters, SHOWN, type Filters } from "./filters.ts";
import { problemOf, valueOf, type Activity, type DuplicatesFacts } from "./load.ts";
import { problemBanner, statusOf } from "./words.ts";

/** The choice of another list closes the group and begins at the first page. */
const RESET = { offset: undefined, group: undefined, with: undefined } as const;

/** The tabs of the list, how many groups are in the plan, and the narrowing filters. */
export function filterBar(accepted: number | undefined, state: PageState): View {
  const filters = readFilters(state.params);
  const { params } = state;
  return html`<div class="stack tight">
    <nav class="segments" aria-label="Groups">${SHOWN.map(([name, label]) => html`<a data-stay href=${linkWith(state, { ...RESET, show: name === "pending" ? undefined : name })} aria-current=${filters.shown === name ? "true" : undefined}>${label}${name === "accepted" && accepted !== undefined && accepted > 0 ? html` <span class="mark">${formatCount(accepted)}</span>` : undefined}</a>`)}</nav>
    <div class="tools review-tools">
      <label class="filter scripted"><span class="sr">Search titles</span><input type="search" data-param="q" value=${filters.search} placeholder="Search titles" autocomplete="off" spellcheck="false" /></label>
      <nav class="segments" aria-label="Confidence">${CONFIDENCES.map(([value, label]) => html`<a data-stay href=${linkWith(state, { ...RESET, min: value })} aria-current=${(params.get("min") ?? undefined) === value ? "true" : undefined}>${label}</a>`)}</nav>
      <span class="actions-inline"><button type="button" class="scripted" data-open="copies">Accept exact copies</button><a class="button" href="/duplicates/plan">Delete plan${accepted === undefined || accepted === 0 ? undefined : ` (${formatCount(accepted)})`}</a><button type="button" class="scripted quiet" data-open="keys" aria-label="Keyboard shortcuts">?</button></span>
    </div>
  </div>`;
}

/** The rows of this page, and the ways to the pages beside it. */
export function groupList(
  { list, activity }: Pick<DuplicatesFacts, "list" | "activity">,
  selected: string | undefined,
  state: PageState,
): View {
  const read = valueOf(list);
  if (read === undefined) return problemBanner("The groups", problemOf(list) ?? "");
  const filters = readFilters(state.params);
  if (read.data.length === 0)
    return read.meta.total > 0 ? beyondEnd(state) : nothing(filters, valueOf(activity), state);
  return html`<div class="table">
    <span class="count" role="status">${countOf(read.meta, read.data.length)}</span>
    <div class="scroll"><table aria-label="groups">
      <thead><tr>${[headCell("Document that stays"), sortCell("member_count", "Documents", filters, state), sortCell("confidence", "Confidence", filters, state), headCell("Status"), sortCell("created_at", "Found", filters, state)]}</tr></thead>
      <tbody>${read.data.map((group) => groupRow(group, selected, state))}</tbody></table></div>
    ${paging(read.meta, read.data.length, state)}
  </div>`;
}

function countOf({ total, totalMemberCount, offset }: GroupListMeta, rows: number): string {
  const all = `${formatSome(total, "group")} of ${formatSome(totalMemberCount, "document")}`;
  return rows === total
    ? all
    : `${formatCount(offset + 1)} to ${formatCount(offset + rows)} of ${all}`;
}

function headCell(title: string): View {
  return html`<th scope="col"><span>${title}</span></th>`;
}

function sortCell(key: string, title: string, filters: Filters, state: PageState): View {
  const isSorted = filters.sort === key;
  const direction = isSorted ? (filters.descending ? "descending" : "ascending") : undefined;
  const next = isSorted && filters.descending ? key : `-${key}`;
  const href = linkWith(state, { ...RESET, sort: next === "-confidence" ? undefined : next });
  return html`<th scope="col" class="figure" aria-sort=${direction}><a data-stay href=${href}><span class="order" aria-hidden="true">${direction === undefined ? "" : direction === "ascending" ? "↑" : "↓"}</span>${title}</a></th>`;
}

function groupRow(group: GroupSummary, selected: string | undefined, state: PageState): View {
  const { id, primaryDocumentTitle, memberCount, archivedMemberCount, confidenceScore } = group;
  const title =
    primaryDocumentTitle === null || primaryDocumentTitle === ""
      ? "without a title"
      : primaryDocumentTitle;
  const isOpen = state.params.get("group") === id;
  const href = linkWith(state, { group: id, with: undefined });
  const documents =
    memberCount === 0 && archivedMemberCount !== null
      ? html`<span>${formatCount(archivedMemberCount)}<small>deleted</small></span>`
      : formatCount(memberCount);
  return html`<tr key=${id} class=${id === selected ? "selected" : undefined} data-row=${id}>
    <td data-label="Document that stays"><a class="row-link" data-stay data-step href=${href} aria-current=${isOpen ? "true" : undefined}>${title}</a></td>
    <td class="figure" data-label="Documents">${documents}</td>
    <td class="figure" data-label="Confidence">${formatPercent(confidenceScore)}</td>
    <td data-label="Status">${stateText(...statusOf(group))}</td>
    <td class="figure" data-label="Found">${moment(group.createdAt ?? undefined, state)}</td>
  </tr>`;
}

/** Links to the page before and the page after, by the offset in the address. */
export function paging(
  { total, limit, offset }: Pick<GroupListMeta, "total" | "limit" | "offset">,
  rows: number,
  state: PageState,
): Child {
  const [previous, next] = [Math.max(0, offset - limit), offset + rows];
  if (offset === 0 && next >= total) return undefined;
  const to = (at: number): string =>
    linkWith(state, { ...RESET, offset: at === 0 ? undefined : String(at) });
  return html`<nav class="paging" aria-label="Pages of the list">
    ${offset === 0 ? undefined : html`<a class="button" data-stay href=${to(previous)} rel="prev">Previous page</a>`}
    ${next >= total ? undefined : html`<a class="button" data-stay data-next href=${to(next)} rel="next">Next page</a>`}
  </nav>`;
}

function beyondEnd(state: PageState): View {
  return empty(
    html`<span>There is nothing on this page of the list any more. <a data-stay href=${linkWith(state, RESET)}>Go to the first page</a></span>`,
  );
}

function nothing(filters: Filters, activity: Activity | undefined, state: PageState): View {
  if (filters.search !== "" || filters.minConfidence !== undefined)
    return empty(
      html`<span>No group matches. <a data-stay href=${linkWith(state, { ...RESET, q: undefined, min: undefined })}>Show all of this list</a></span>`,
    );
  if (activity !== undefined && activity.analysis.totalDuplicateGroups > 0)
    return empty(ofTab(filters, activity));
  if (activity === undefined || activity.sync.lastSyncAt === null)
    return empty(
      html`<span>No documents were read yet. Add an archive to <code>dedup.archives</code> in the configuration, then sync it: with the button above, <code>POST /api/v1/sync</code>, or a <code>dedup.sync.interval</code>. The analysis follows, and its groups are shown here.</span>`,
    );
  return empty(
    activity.analysis.lastAnalysisAt === null
      ? "No analysis was run yet."
      : html`<span>No near-duplicates among ${formatSome(activity.sync.totalDocuments, "document")}. <a href="/documents">Show the documents</a></span>`,
  );
}

function ofTab({ shown }: Filters, { accepted }: Activity): Child {
  if (shown === "pending")
    return html`<span><strong>Every group is reviewed.</strong> ${accepted === 0 ? "None is in the delete plan." : html`<span>${formatSome(accepted, "group is", "groups are")} in the <a href="/duplicates/plan">delete plan</a>: look at it as a whole next.</span>`}</span>`;
  if (shown === "accepted")
    return "No group is in the delete plan. Accept a group to put it there; nothing is deleted by that.";
  const words = {
    false_positive: "not duplicates",
    ignored: "ignored",
    deleted: "deleted",
  } as const;
  return shown === "all" ? "There is no group." : `No group is marked as ${words[shown]}.`;
}
