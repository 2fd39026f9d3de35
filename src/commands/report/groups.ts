/** Groups of near-duplicates as text for people. */
import { printable } from "../../kernel/base/text/printable.ts";
import { counted, displayWidth, formatPercent, shortenMiddle, wrapWords } from "./text.ts";
import type { Style } from "./style.ts";
import type { ReportGroup, ReportMember } from "./types.ts";

/** How the text is laid out. */
export interface GroupLayout {
  /** Columns of the terminal; undefined (no terminal) wraps nothing. */
  readonly columns: number | undefined;
  readonly style: Style;
}

const NARROWEST = 40;
const MARGIN = 5;

/** One piece of text per group, in order, made one at a time. */
export function* formatGroups(
  groups: Iterable<ReportGroup>,
  layout: GroupLayout,
): Generator<string> {
  let number = 0;
  for (const group of groups) {
    number += 1;
    yield formatGroup(group, number, layout);
  }
}

/**
 * A group: its confidence, its members (`*` before the one to keep) and why they match; ends with
 * an empty line. Ids are never cut, since they are there to be copied.
 */
export function formatGroup(group: ReportGroup, number: number, layout: GroupLayout): string {
  const { style } = layout;
  const columns = layout.columns === undefined ? Infinity : Math.max(NARROWEST, layout.columns);
  const decided = group.accepted === true ? "accepted" : group.status;
  const status = decided === "pending" ? "" : `, ${printable(decided)}`;
  const head = `Group ${number}: ${formatPercent(group.confidence)}, ${counted(group.members.length, "document")}${status}`;
  const members = group.members.map((member) => formatMember(member, columns, style));
  const reasons = group.reasons.flatMap((reason) =>
    wrapWords(printable(reason), columns - MARGIN - 2).map((line, index) =>
      style.quiet(`${" ".repeat(MARGIN)}${index === 0 ? "- " : "  "}${line}`),
    ),
  );
  return `${[style.strong(head), ...members, ...reasons].join("\n")}\n\n`;
}

/** The id, then title and size on the same line where there is space, else on the next one. */
function formatMember(member: ReportMember, columns: number, style: Style): string {
  const id = printable(member.id);
  const title = titleOf(member);
  const shownTitle = title === "" ? "" : `"${title}" `;
  const marks = [
    ...(member.truncated === true ? ["truncated"] : []),
    ...(member.hardLinkOf === undefined ? [] : ["hard link"]),
  ];
  const words = counted(member.words, "word");
  const shownMarks = marks.map((mark) => `, ${style.notice(mark)}`).join("");
  const size = `${style.quiet(`(${words}`)}${shownMarks}${style.quiet(")")}`;
  const width =
    MARGIN +
    displayWidth(id) +
    displayWidth(`${shownTitle === "" ? " " : "  "}${shownTitle}(${[words, ...marks].join(", ")})`);
  const start = `   ${member.primary ? style.good("*") : " "} ${member.primary ? style.good(id) : id}`;
  if (width <= columns) return `${start}${shownTitle === "" ? " " : "  "}${shownTitle}${size}`;
  const indent = " ".repeat(MARGIN + 2);
  const left = columns - MARGIN - 3 - displayWidth(`(${[words, ...marks].join(", ")})`);
  const cut = title === "" ? "" : `"${shortenMiddle(title, Math.max(1, left - 2))}" `;
  return `${start}\n${indent}${cut}${size}`;
}

/** The title for people; empty for a file's that is its name, which the path already shows. */
export function titleOf(member: Pick<ReportMember, "id" | "title">): string {
  const name = member.id.slice(member.id.lastIndexOf("/") + 1);
  const isName =
    member.title === member.id ||
    member.title === name ||
    member.title === name.replace(/\.[^.]*$/, "");
  return isName ? "" : printable(member.title);
}
