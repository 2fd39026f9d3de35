/** Groups of near-duplicates as text for people. */
import { printable } from "../../kernel/base/printable.ts";
import { counted, displayWidth, formatPercent, shortenMiddle, wrapWords } from "./text.ts";
import type { ReportGroup, ReportMember } from "./types.ts";

/** How the text is laid out. */
export interface GroupLayout {
  /**
   * Columns of the terminal; undefined (no terminal) shortens nothing, so that paths can be used by
   * what reads them.
   */
  readonly columns: number | undefined;
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
 * an empty line.
 */
export function formatGroup(group: ReportGroup, number: number, layout: GroupLayout): string {
  const columns = layout.columns === undefined ? Infinity : Math.max(NARROWEST, layout.columns);
  const status = group.status === "pending" ? "" : `, ${printable(group.status)}`;
  const head = `Group ${number}: ${formatPercent(group.confidence)}, ${counted(group.members.length, "document")}${status}`;
  const members = group.members.map((member) => formatMember(member, columns));
  const reasons = group.reasons.flatMap((reason) =>
    wrapWords(printable(reason), columns - MARGIN - 2).map(
      (line, index) => `${" ".repeat(MARGIN)}${index === 0 ? "- " : "  "}${line}`,
    ),
  );
  return `${[head, ...members, ...reasons].join("\n")}\n\n`;
}

function formatMember(member: ReportMember, columns: number): string {
  const room = columns - MARGIN;
  const id = printable(member.id);
  const title = titleOf(member);
  const size = ` (${[
    counted(member.words, "word"),
    ...(member.truncated === true ? ["truncated"] : []),
    ...(member.hardLinkOf === undefined ? [] : ["hard link"]),
  ].join(", ")})`;
  const idRoom = Math.max(20, room - size.length);
  const shownId = columns === Infinity ? id : shortenMiddle(id, idRoom);
  const left = room - displayWidth(shownId) - size.length - 4;
  // A title is worth its place only when enough of it is seen.
  const shownTitle =
    title === "" || left < Math.min(12, displayWidth(title))
      ? ""
      : `  "${columns === Infinity ? title : shortenMiddle(title, left)}"`;
  return `   ${member.primary ? "*" : " "} ${shownId}${shownTitle}${size}`;
}

// A file's title is usually its name, which the path already shows.
function titleOf(member: ReportMember): string {
  const name = member.id.slice(member.id.lastIndexOf("/") + 1);
  const isName =
    member.title === member.id ||
    member.title === name ||
    member.title === name.replace(/\.[^.]*$/, "");
  return isName ? "" : printable(member.title);
}
