/**
 * The page `/duplicates/plan`: the delete plan as a whole. For each accepted group, which document
 * stays, which would be deleted, and which are left out and why.
 */
import type { DeletePlanMeta, PlannedDocument, PlannedGroup } from "../../../src/gen/dedup-json.ts";
import { formatCount, formatPercent, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { figures } from "../pieces/card.ts";
import { dialog } from "../pieces/dialog.ts";
import { pageImage } from "../pieces/page-image.ts";
import { empty } from "../pieces/section.ts";
import { stateText } from "../pieces/state.ts";
import { moment } from "../pieces/time.ts";
import { paging } from "./list.ts";
import { problemOf, valueOf, type PlanFacts } from "./load.ts";
import { problemBanner, titleOf, whereIs } from "./words.ts";

export function planPage({ plan }: PlanFacts, state: PageState): View {
  const read = valueOf(plan);
  return html`<div class="stack review">
    <div class="row review-head"><h2>Delete plan</h2><a href="/duplicates">Back to the groups</a></div>
    ${read === undefined ? problemBanner("The delete plan", problemOf(plan) ?? "") : planView(read.data.groups, read.meta, state)}
  </div>`;
}

function planView(groups: readonly PlannedGroup[], meta: DeletePlanMeta, state: PageState): Child {
  if (meta.total === 0)
    return empty(
      html`<span>No group is in the delete plan. <a href="/duplicates">Review the groups</a> and accept those whose other documents may be deleted.</span>`,
    );
  return [
    totals(meta),
    html`<p class="note">Nothing is deleted by this page. A document is in the plan only if it has a verified pair with the document that stays of one of its groups; texts that were cut or have changed since are left out. The download has the files of folders, for <code>steward dedup --apply-plan</code>, which moves them to the trash.</p>`,
    html`<div class="actions-inline"><a class="button" href="/api/v1/export/delete-plan.json" download>Download the plan</a><button type="button" class="scripted" data-open="empty-plan">Empty the plan</button></div>`,
    html`<div class="stack tight">${groups.map((group) => groupView(group, state))}</div>`,
    paging(meta, groups.length, state),
    dialog({
      id: "empty-plan",
      title: "Take all groups out of the plan?",
      body: `${formatSome(meta.total, "group is", "groups are")} to be reviewed again. No document is changed, and primaries that were chosen stay chosen.`,
      confirm: "Empty the plan",
    }),
  ];
}

function totals({ total, deletedCount, primaryCount, leftOutCount }: DeletePlanMeta): View {
  return html`<section class="panel totals" aria-label="Totals">${figures([
    {
      label: "Would be deleted",
      value: formatCount(deletedCount),
      detail: deletedCount === 1 ? "document" : "documents",
    },
    { label: "Stay", value: formatCount(primaryCount), detail: "one of each group" },
    { label: "Left out", value: formatCount(leftOutCount), detail: "each with its reason" },
    { label: "Groups", value: formatCount(total), detail: "accepted" },
  ])}</section>`;
}

function groupView(group: PlannedGroup, state: PageState): View {
  const { groupId, primary, documents, documentCount, acceptedAt, confidenceScore } = group;
  const title = primary === null ? "the document is gone" : titleOf(primary);
  return html`<section class="card planned" key=${groupId} aria-label=${title}>
    <header>${primary === null ? undefined : pageImage(primary, titleOf(primary), "small")}<h3>${primary === null ? title : html`<a href=${`/documents/${encodeURIComponent(primary.documentId)}`}>${title}</a>`}</h3>${stateText("good", "stays")}</header>
    <p class="note">${primary === null ? undefined : html`<span>${whereIs(primary)}. </span>`}Confidence ${formatPercent(confidenceScore)}, accepted ${moment(acceptedAt ?? undefined, state)}.</p>
    <ul class="planned-documents">${documents.map((each) => documentRow(each, groupId))}</ul>
    ${documentCount > documents.length ? html`<p class="note">and ${formatSome(documentCount - documents.length, "document")} more; the download has all.</p>` : undefined}
    <footer><a href=${groupHref(groupId)} >Compare<span class="sr"> the documents of ${title}</span></a><button type="button" class="small scripted" data-act="withdraw" data-id=${groupId} >Take out<span class="sr"> of the plan: ${title}</span></button></footer>
  </section>`;
}

function documentRow(planned: PlannedDocument, groupId: string): View {
  const { document, deleted, reason, confidenceScore, keptBy } = planned;
  if (document === null) return html`<li>a document that is gone</li>`;
  const kept =
    keptBy === null || keptBy === groupId
      ? "with the one that stays"
      : html`<span>with the one that stays of <a href=${groupHref(keptBy)}>another accepted group</a></span>`;
  return html`<li>${deleted ? stateText("bad", "would be deleted") : stateText("notice", "left out")}${pageImage(document, titleOf(document), "small")}<span><a href=${`/documents/${encodeURIComponent(document.documentId)}`}>${titleOf(document)}</a><small>${whereIs(document)}${confidenceScore === null ? undefined : html`<span>, ${formatPercent(confidenceScore)} ${kept}</span>`}${reason === null ? undefined : html`<span>: it ${reason}</span>`}</small></span></li>`;
}

function groupHref(id: string): string {
  return `/duplicates?show=accepted&group=${encodeURIComponent(id)}`;
}
