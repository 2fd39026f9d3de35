/** The title of a document from its text or its name. */
import { cutText } from "../text/decode.ts";

const LOOKED_AT = 64 * 1024;
const TITLE_UNITS = 500;

/** A title in one line of at most 500 units. */
export function cleanTitle(title: string): string {
  return cutText(title.replace(/\s+/g, " ").trim(), TITLE_UNITS);
}

/**
 * The first heading of Markdown, reStructuredText or AsciiDoc near the beginning; undefined when
 * there is none.
 */
export function headingOf(text: string): string | undefined {
  const lines = text.slice(0, LOOKED_AT).split(/\r?\n/);
  let fence = "";
  for (const [at, line] of lines.entries()) {
    const mark = /^\s{0,3}(```|~~~|----$)/.exec(line)?.[1] ?? "";
    if (mark === "```" || mark === "~~~") fence = fence === "" ? mark : fence === mark ? "" : fence;
    if (fence !== "") continue;
    const heading =
      /^\s{0,3}(?:#{1,6}|={1,6})[ \t]+(\S.*?)[ \t]*#*$/.exec(line)?.[1] ??
      underlined(line, lines[at + 1]);
    const title = heading === undefined ? "" : cleanTitle(withoutMarks(heading));
    if (title !== "") return title;
  }
  return undefined;
}

function underlined(line: string, next: string | undefined): string | undefined {
  const text = line.trim();
  if (next === undefined || text === "" || !/[\p{L}\p{N}]/u.test(text)) return undefined;
  return /^\s{0,3}(={3,}|-{3,}|~{3,}|\*{3,}|#{3,}|\^{3,}|"{3,})\s*$/.test(next) ? text : undefined;
}

function withoutMarks(heading: string): string {
  return heading
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*`]/g, "")
    .replace(/<[^>]*>/g, "");
}
