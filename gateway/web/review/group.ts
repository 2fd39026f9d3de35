/**
 * One group: why its documents match, which one stays, and two of them side by side. Buttons are
 * named by `data-act`; the browser's half gives them their effect.
 */
import type { Group, GroupMember, GroupPair, MemberTexts } from "../../../src/gen/dedup-json.ts";
import { compareWords, type Difference } from "../difference.ts";
import { formatCount, formatPercent, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { linkWith, type PageState } from "../page-state.ts";
import { difference } from "../pieces/difference.ts";
import { figures } from "../pieces/card.ts";
import { pageImage } from "../pieces/page-image.ts";
import { badge, stateText } from "../pieces/state.ts";
import { moment } from "../pieces/time.ts";
import { shownAs } from "./filters.ts";
import { problemOf, valueOf, type OpenGroup, type Read } from "./load.ts";
import { banner, problemBanner, statusOf, titleOf, whereIs } from "./words.ts";

/** Documents of a group that are listed. */
const SHOWN_MEMBERS = 100;

/** The group that the address names; `gone` when the API has it no more. */
export function groupView(open: Read<OpenGroup>, state: PageState): View {
  const read = valueOf(open);
  const back = html`<a class="back" data-stay data-step href=${linkWith(state, { group: undefined, with: undefined })}>← Back to the list</a>`;
  if (read === undefined)
    return html`<section class="group part" aria-label="Group">${back}${
      "gone" in open && open.gone
        ? banner(
            "notice",
            html`<span><strong>This group is gone.</strong> An analysis or another reviewer removed it, or the link is wrong.</span>`,
            html`<button type="button" data-act="reload">Load the list again</button>`,
          )
        : problemBanner("The group", problemOf(open) ?? "")
    }</section>`;
  const { group } = read;
  const primary = group.members.find(({ isPrimary }) => isPrimary);
  return html`<section class="group part" aria-labelledby="group-title">
    ${back}
    <div class="row"><h3 id="group-title" tabindex="-1">${primary === undefined ? (group.archivedPrimaryTitle ?? "A group without documents") : titleOf(primary)}</h3>${badge(...statusOf(group))}</div>
    ${group.reasons.length === 0 ? undefined : html`<ul class="chips" aria-label="Why they match">${group.reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`}
    ${decisionBar(group)}
    ${figures(scoresOf(group))}
    ${group.members.length === 0 ? html`<p class="note">The documents of a deleted group are not shown.</p>` : memberTable(group, read.other, state)}
    ${comparison(read)}
    ${historyView(group, state)}
  </section>`;
}

function scoresOf(group: Group | GroupPair): { label: string; value: string }[] {
  const { confidenceScore, jaccardSimilarity, fuzzyTextRatio, discriminativeScore } = group;
  const scores: readonly (readonly [string, number | null])[] = [
    ["Confidence", confidenceScore],
    ["Jaccard similarity", jaccardSimilarity],
    ["Fuzzy text ratio", fuzzyTextRatio],
    ["Discriminative score", discriminativeScore],
  ];
  return scores.map(([label, score]) => ({
    label,
    value: score === null ? "–" : formatPercent(score),
  }));
}

function decisionBar(group: Group): View {
  const shown = shownAs(group);
  const others = group.members.length - 1;
  const action = (act: string, key: string, label: string, hint: string, main = false): View =>
    html`<button type="button" data-act=${act} class=${main ? "main" : undefined} title=${hint} aria-keyshortcuts=${key}>${label} <kbd aria-hidden="true">${key}</kbd></button>`;
  const back =
    shown === "accepted"
      ? [
          action("reopen", "r", "Take out of the plan", "The group is to be reviewed again"),
          action("accept", "a", "Accept again", "Agree to texts that have changed since"),
        ]
      : action("reopen", "r", "Review again", "The group is to be reviewed again");
  return html`<div class="decision">
    ${shown === "accepted" ? html`<p class="note">${formatSome(others, "document")} besides the one that stays ${others === 1 ? "is" : "are"} in the <a href="/duplicates/plan">delete plan</a>. Nothing is deleted yet.</p>` : undefined}
    <div class="decision-buttons scripted" role="group" aria-label="Decision">
      ${
        shown === "pending"
          ? [
              action("accept", "a", "Accept", "Put the other documents into the delete plan", true),
              action("reject", "x", "Not a duplicate", "These documents are not grouped again"),
              action("ignore", "i", "Ignore", "They are duplicates, and all of them stay"),
            ]
          : back
      }
    </div></div>`;
}

function memberTable({ members }: Group, other: string | undefined, state: PageState): View {
  const shown = members.slice(0, SHOWN_MEMBERS);
  return html`<div class="table"><div class="scroll members"><table aria-label="documents of the group">
      <thead><tr><th scope="col">Document</th><th scope="col" class="figure">Words</th><th scope="col">Date</th><th scope="col">In the group</th></tr></thead>
      <tbody>${shown.map((member) => memberRow(member, member.documentId === other, state))}</tbody></table></div>
    ${members.length > shown.length ? html`<p class="note">The first ${formatCount(shown.length)} of ${formatSome(members.length, "document")} are shown.</p>` : undefined}</div>`;
}

function memberRow(member: GroupMember, isCompared: boolean, state: PageState): View {
  const { documentId, isPrimary, content, createdDate, truncated, correspondent } = member;
  const title = titleOf(member);
  return html`<tr key=${documentId} class=${isCompared ? "selected" : undefined}>
    <td data-label="Document"><a href=${`/documents/${encodeURIComponent(documentId)}`}>${title}</a><small>${whereIs(member)}${correspondent === null ? undefined : html`<span>, ${correspondent}</span>`}</small>${truncated ? html`<small>${stateText("notice", "only the beginning of its text was compared")}</small>` : undefined}</td>
    <td class="figure" data-label="Words">${content === null || content.wordCount === null ? "–" : formatCount(content.wordCount)}</td>
    <td data-label="Date">${createdDate === null ? "–" : createdDate.slice(0, 10)}</td>
    <td data-label="In the group">${
      isPrimary
        ? stateText("good", "stays")
        : html`<span class="member-actions"><a data-stay href=${linkWith(state, { with: documentId })} class=${isCompared ? "muted" : undefined} aria-current=${isCompared ? "true" : undefined}>${isCompared ? "Compared below" : "Compare"}<span class="sr"> ${title}</span></a><button type="button" class="small scripted" data-act="primary" data-id=${documentId} aria-keyshortcuts=${isCompared ? "p" : undefined}>Keep this one<span class="sr">: ${title}</span>${isCompared ? html` <kbd aria-hidden="true">p</kbd>` : undefined}</button></span>`
    }</td>
  </tr>`;
}

/** The difference of the texts that a page has shown last: drawing the page again costs nothing. */
let compared: { readonly texts: MemberTexts; readonly difference: Difference } | undefined;

function differenceOf(texts: MemberTexts): Difference {
  if (compared?.texts !== texts)
    compared = {
      texts,
      difference: compareWords(texts.docA?.fullText ?? "", texts.docB?.fullText ?? ""),
    };
  return compared.difference;
}

function comparison({ group, other, texts }: OpenGroup): Child {
  const primary = group.members.find(({ isPrimary }) => isPrimary);
  const beside = group.members.find(({ documentId }) => documentId === other);
  if (primary === undefined || beside === undefined || texts === undefined) return undefined;
  const read = valueOf(texts);
  if (read === undefined) return problemBanner("The texts", problemOf(texts) ?? "");
  const pair = group.pairs.find(
    ({ docA, docB }) =>
      (docA === primary.documentId && docB === beside.documentId) ||
      (docB === primary.documentId && docA === beside.documentId),
  );
  const side = (member: GroupMember, word: string): View =>
    html`<span><strong>${titleOf(member)}</strong><small>${word}</small></span>`;
  return html`<div class="part"><h4>Difference</h4>
    ${picturesOf(primary, beside)}
    ${
      pair === undefined
        ? html`<p class="note">This pair was not scored by itself: both match the centre of the group. The delete plan leaves such a document out; keep another one, or review the two by hand.</p>`
        : group.pairs.length > 1
          ? html`<p class="note">This pair: ${scoresOf(pair)
              .map(({ label, value }) => `${label} ${value}`)
              .join(", ")}.</p>`
          : undefined
    }
    ${
      (read.docA?.fullText ?? null) === null || (read.docB?.fullText ?? null) === null
        ? banner("notice", "One of the two has no text: there is nothing to compare.")
        : difference({
            difference: differenceOf(read),
            left: side(primary, "stays"),
            right: side(beside, "would be deleted"),
          })
    }</div>`;
}

/** Nothing where neither archive has pictures. */
function picturesOf(primary: GroupMember, beside: GroupMember): Child {
  if (primary.paperlessId === null && beside.paperlessId === null) return undefined;
  const side = (member: GroupMember, word: string): View =>
    html`<div>${pageImage(member, titleOf(member), "large") ?? html`<p class="note">Its archive has no pictures; a Paperless-ngx has them.</p>`}<p class="note">${word}</p></div>`;
  return html`<div class="sides pictures">${side(primary, "stays")}${side(beside, "would be deleted")}</div>`;
}

function historyView({ history }: Group, state: PageState): Child {
  if (history.length === 0) return undefined;
  return html`<details><summary>${formatSome(history.length, "earlier decision")}</summary><ul class="plain">${history.map(({ status, decidedAt }) => html`<li>${statusOf({ status, accepted: false })[1]} ${moment(decidedAt ?? undefined, state, "")}</li>`)}</ul></details>`;
}
