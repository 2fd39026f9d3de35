/** One group of an HTML report: its documents, why they match, where their texts differ. */
import { formatPercent, formatSome } from "../../../../gateway/web/format.ts";
import { html, type Child, type View } from "../../../../gateway/web/html.ts";
import { difference as differenceView } from "../../../../gateway/web/pieces/difference.ts";
import { badge } from "../../../../gateway/web/pieces/state.ts";
import type { ReportableGroup } from "../../../dedup/analysis/outcome.ts";
import { printable } from "../../../kernel/base/text/printable.ts";
import { titleOf } from "../groups.ts";
import type { Differences } from "./differences.ts";
import { GROUP_DIFFERENCES } from "./differences.ts";

type Member = ReportableGroup["members"][number];

/** Documents shown of a group. */
const MAX_MEMBERS = 100;

/** `number` counts groups from 1. */
export function groupView(group: ReportableGroup, number: number, differences: Differences): View {
  const { members, reasons, confidence } = group;
  const texts = new Set(group.found.texts).size;
  const heading = `group-${number}`;
  return html`<section class="group part" data-group data-kind=${texts === 1 ? "exact" : "near"} tabindex="-1" aria-labelledby=${heading}>
    <div class="facts">
      <div class="row"><h3 id=${heading}>Group ${number}: ${formatSome(members.length, "document")}</h3>${badge(texts === 1 ? "good" : "notice", texts === 1 ? "exact copies" : `${formatPercent(confidence)} alike`)}</div>
      ${table(members, heading)}
      <ul class="chips" aria-label="Why they match">${reasons.map((reason) => html`<li>${printable(reason)}</li>`)}</ul>
    </div>
    ${texts === 1 ? undefined : compared(group, differences)}
  </section>`;
}

function table(members: readonly Member[], heading: string): Child {
  const heads = ["Document", "Words", "Role"];
  const rest = members.length - MAX_MEMBERS;
  return [
    html`<div class="scroll"><table aria-labelledby=${heading}><thead><tr>${heads.map((head, at) => html`<th scope="col" class=${at === 1 ? "figure" : undefined}>${head}</th>`)}</tr></thead>
    <tbody>${members.slice(0, MAX_MEMBERS).map((member) => row(member, members, heads))}</tbody></table></div>`,
    rest > 0 ? html`<p class="note">and ${formatSome(rest, "more document")}</p>` : undefined,
  ];
}

function row(member: Member, members: readonly Member[], heads: readonly string[]): View {
  const title = titleOf({ id: member.ref, title: member.title });
  const isOtherName =
    member.hardLink !== undefined &&
    members.find(({ hardLink }) => hardLink === member.hardLink) !== member;
  const marks = [
    ...(member.truncated === true ? ["only the beginning of its text was compared"] : []),
    ...(isOtherName ? ["another name of a file above (hard link)"] : []),
  ];
  return html`<tr>
    <td data-label=${heads[0]}><code>${printable(member.ref)}</code>${title === "" ? undefined : html`<small>${title}</small>`}${marks.map((mark) => html`<small>${mark}</small>`)}</td>
    <td data-label=${heads[1]} class="figure">${formatSome(member.wordCount, "word")}</td>
    <td data-label=${heads[2]}>${member.primary ? badge("good", "stays") : badge("unknown", "duplicate")}</td>
  </tr>`;
}

/** The primary beside each other text of the group. */
function compared({ members, found }: ReportableGroup, differences: Differences): Child {
  const primary = members.find((member) => member.primary) ?? members[0];
  if (primary === undefined) return undefined;
  const textOf = new Map(found.members.map((document, at) => [document, found.texts[at] ?? -1]));
  const seen = new Set([textOf.get(primary.number)]);
  const others = members.filter(({ number }) => {
    const text = textOf.get(number);
    const isNew = !seen.has(text);
    seen.add(text);
    return isNew;
  });
  const shown = others.slice(0, GROUP_DIFFERENCES);
  return [
    ...shown.map((other) => comparison(primary, other, differences)),
    others.length > shown.length
      ? html`<p class="note">${formatSome(others.length - shown.length, "further text")} of this group: <code>steward dedup --explain A B</code> compares any two documents.</p>`
      : undefined,
  ];
}

function comparison(primary: Member, other: Member, differences: Differences): View {
  const difference = differences.of(primary.number, other.number);
  if (difference === undefined)
    return html`<p class="note">The differences from <code>${printable(other.ref)}</code> are left out, since the report is full: <code>steward dedup --explain A B</code> shows them.</p>`;
  if (difference === "gone")
    return html`<p class="note"><code>${printable(other.ref)}</code> cannot be compared: a text is gone or was changed after it was read.</p>`;
  const side = (member: Member, what: string): View =>
    html`<span><strong>${what}</strong><small>${printable(member.ref)}</small></span>`;
  return html`<details><summary>Differences from ${printable(other.ref)}</summary>${differenceView({
    difference,
    left: side(primary, "Stays"),
    right: side(other, "Duplicate"),
  })}</details>`;
}
