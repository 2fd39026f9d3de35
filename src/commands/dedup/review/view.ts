/** What the review shows, as lines that fit a terminal. Pure. */
import { GroupStatus } from "../../../gen/steward/dedup/v1/groups_pb.ts";
import type { ReviewedGroup } from "../../../dedup/review/decisions.ts";
import { printable } from "../../../kernel/base/text/printable.ts";
import { counted, formatPercent, shortenMiddle, wrapWords } from "../../report/text.ts";
import { breakAnywhere } from "./lines.ts";
import type { Style } from "./style.ts";
import type { Size } from "./terminal.ts";

/** One screen. */
export interface Screen {
  readonly title: string;
  /** Scrolled when it has more lines than there is room for. */
  readonly body: readonly string[];
  /** One line above the keys. */
  readonly message: string;
  /** The most important first: those that do not fit are left out. */
  readonly keys: readonly string[];
}

export const GROUP_KEYS: readonly string[] = [
  "? help",
  "k keep",
  "x not duplicates",
  "p primary",
  "d compare",
  "s skip",
  "u undo",
  "q quit",
];
export const TEXT_KEYS: readonly string[] = ["Esc back", "n next document", "Space scroll"];

/** Lines of the body that a screen has room for. */
export function bodyRows({ rows }: Size): number {
  return Math.max(1, rows - 4);
}

/** The lines of a screen, scrolled to `top`; never more than there are rows. */
export function layOut(
  { title, body, message, keys }: Screen,
  top: number,
  size: Size,
  style: Style,
): string[] {
  const room = bodyRows(size);
  const shown = body.slice(top, top + room);
  const below = body.length - top - shown.length;
  const more = below > 0 ? `… ${counted(below, "more line")} below (Space)` : "";
  const fit = (text: string): string => shortenMiddle(text, size.columns);
  const lines = [
    style.strong(fit(title)),
    ...shown,
    ...Array.from({ length: room - shown.length }, () => ""),
    style.faint(fit(more)),
    fit(message),
    style.strong(fit(joinKeys(keys, size.columns))),
  ];
  // Of a screen that is too low the keys remain.
  return lines.slice(Math.max(0, lines.length - size.rows));
}

function joinKeys([first = "", ...others]: readonly string[], columns: number): string {
  let line = first;
  for (const key of others) {
    if (line.length + 2 + key.length > columns) break;
    line += `  ${key}`;
  }
  return line;
}

/** `Group 3 of 12: 97.3 %, 4 documents, accepted`. */
export function groupTitle(reviewed: ReviewedGroup, at: number, of: number): string {
  const { group } = reviewed;
  return [
    `Group ${at + 1} of ${of}: ${formatPercent(group.confidence)}`,
    counted(group.members.length, "document"),
    describeStatus(reviewed),
  ].join(", ");
}

/** What was decided, in a word. */
export function describeStatus({ status, accepted, gained }: ReviewedGroup): string {
  if (accepted) return "accepted";
  if (status === GroupStatus.FALSE_POSITIVE) return "not duplicates";
  return gained ? "new members or texts since the decision" : "open";
}

/** Members by number, `*` before the one that stays, and why they match. Paths are never cut. */
export function groupBody(reviewed: ReviewedGroup, columns: number): string[] {
  const { members, reasons } = reviewed.group;
  const digits = String(members.length).length;
  const margin = digits + 5;
  return [
    ...members.flatMap(({ ref, wordCount, truncated, primary }, at) => {
      const facts = [
        counted(wordCount, "word"),
        ...(truncated === true ? ["truncated"] : []),
        ...(primary ? [reviewed.chosen ? "stays, your choice" : "stays"] : []),
      ].join(", ");
      const lines = breakAnywhere(`${printable(ref)}  (${facts})`, Math.max(8, columns - margin));
      return lines.map((line, index) =>
        index === 0
          ? ` ${primary ? "*" : " "} ${String(at + 1).padStart(digits)} ${line}`
          : `${" ".repeat(margin - 1)}${line}`,
      );
    }),
    "",
    ...reasons.flatMap((reason) =>
      wrapWords(printable(reason), columns - 4)
        .flatMap((line) => breakAnywhere(line, Math.max(8, columns - 4)))
        .map((line, index) => `${index === 0 ? "  - " : "    "}${line}`),
    ),
  ];
}

export const HELP: readonly string[] = [
  "k       keep the document marked with * and put the others into the delete plan",
  "x       these are not duplicates: never pair them again",
  "p       choose the document that stays, by its number",
  "d       show how the texts differ",
  "s       skip: decide later (also Right, n)",
  "b       back to the group before (also Left)",
  "r       reopen: take the decision on this group back",
  "u       undo the last decision",
  "Space   scroll down (also Down, Page Down); Backspace scrolls up",
  "q       quit (also Ctrl-C); what was decided is stored",
  "",
  "Nothing is deleted here. steward dedup --delete-plan FILE PATH... writes what",
  "would go of the accepted groups, and --apply-plan moves that to the trash.",
];
