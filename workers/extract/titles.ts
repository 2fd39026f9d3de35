/** The title of a document from its text or its name. */
import { cutText } from "../text/decode.ts";

const LOOKED_AT = 64 * 1024;
/** Of a line only its beginning is looked at, so that no expression takes long. */
const LINE_UNITS = 1_000;
const TITLE_UNITS = 500;

/** A title in one line of at most 500 units. */
export function cleanTitle(title: string): string {
  return cutText(title.replace(/\s+/g, " ").trim(), TITLE_UNITS);
}

/**
 * The title of Markdown, reStructuredText or AsciiDoc: that of the metadata before it, else its
 * first heading near the beginning; undefined when there is neither.
 */
export function headingOf(text: string): string | undefined {
  const lines = text
    .slice(0, LOOKED_AT)
    .split(/\r?\n/)
    .map((line) => line.slice(0, LINE_UNITS));
  const metadata = lines.slice(0, endOfMetadata(lines));
  const title = titleIn(metadata);
  if (title !== "") return title;
  for (let at = metadata.length; at < lines.length; at++) {
    const end = endOfCode(lines, at);
    if (end !== undefined) at = end;
    else {
      const heading = headingAt(lines, at);
      if (heading !== "") return heading;
    }
  }
  return undefined;
}

/** Where the text begins behind YAML between lines of `---`, or TOML between `+++`. */
function endOfMetadata(lines: readonly string[]): number {
  const mark = /^(---|\+\+\+)\s*$/.exec(lines[0] ?? "")?.[1];
  if (mark === undefined) return 0;
  // Behind a rule there is an empty line, a heading or text.
  const first = lines[indexFrom(lines, 1, (line) => !line.startsWith("#"))] ?? "";
  if (!/^["\w-]+\s*[:=]/.test(first)) return 0;
  const closing = mark === "---" ? /^(?:---|\.\.\.)\s*$/ : /^\+\+\+\s*$/;
  return indexFrom(lines, 1, (line) => closing.test(line)) + 1;
}

function titleIn(metadata: readonly string[]): string {
  for (const line of metadata) {
    // Tables of TOML have titles of their own.
    if (line.startsWith("[")) break;
    // Not one of several lines, which `>` or `|` announces.
    const value = /^"?title"?\s*[:=]\s*([^\s>|].*)$/i.exec(line)?.[1]?.trim();
    if (value === undefined) continue;
    const inner = value.slice(1, -1);
    if (/^".*"$/.test(value)) return cleanTitle(inner.replaceAll(/\\(.)/g, "$1"));
    return cleanTitle(/^'.*'$/.test(value) ? inner.replaceAll("''", "'") : value);
  }
  return "";
}

/** The last line of the code or comment that begins at a line; undefined where none begins. */
function endOfCode(lines: readonly string[], at: number): number | undefined {
  const [, ticks, tildes] = /^\s{0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/.exec(lines[at] ?? "") ?? [];
  const fence = ticks ?? tildes;
  if (fence === undefined) return endOfBlock(lines, at);
  const end = indexFrom(lines, at + 1, (line) => {
    const mark = line.trim();
    return mark.startsWith(fence) && mark === fence.charAt(0).repeat(mark.length);
  });
  return end < 0 ? lines.length : end;
}

/**
 * The last line of a delimited block of AsciiDoc: a listing, a literal or a comment. Markdown has
 * the same line for a rule, which stands alone, and below a heading.
 */
function endOfBlock(lines: readonly string[], at: number): number | undefined {
  const isAnnounced = /^(?:\[.*\]|\.\w.*|\+)$/.test(lines[at] ?? "");
  const start = isAnnounced ? at + 1 : at;
  const mark = /^(?:-{4}|\.{4}|\/{4})$/.exec(lines[start] ?? "")?.[0];
  if (mark === undefined || isBlank(lines[start + 1])) return undefined;
  if (!isAnnounced && at > 0 && !isBlank(lines[at - 1])) return undefined;
  const end = indexFrom(lines, start + 1, (line) => line === mark);
  return end < 0 || isBlank(lines[end - 1]) ? undefined : end;
}

function headingAt(lines: readonly string[], at: number): string {
  const line = lines[at] ?? "";
  const marked = /^\s{0,3}(?:#{1,6}|={1,6})[ \t]+(\S.*)$/.exec(line)?.[1];
  const heading =
    marked?.trimEnd().replace(/(?:^|[ \t])(?:#+|=+)$/, "") ?? underlined(line, lines[at + 1]);
  return heading === undefined ? "" : cleanTitle(withoutMarks(heading));
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

function isBlank(line = ""): boolean {
  return line.trim() === "";
}

/** The first line from `start` on that fits; -1 when none does. */
function indexFrom(
  lines: readonly string[],
  start: number,
  fits: (line: string) => boolean,
): number {
  for (let at = start; at < lines.length; at++) if (fits(lines[at] ?? "")) return at;
  return -1;
}
