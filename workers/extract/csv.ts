/**
 * CSV to rows whose cells are separated by tabs, so that each cell has words of its own. Cells stay
 * as they are written but for the quotes around them.
 */
import { decodeText } from "../text/decode.ts";
import { Refusal } from "./extractor.ts";
import type { Extractor } from "./extractor.ts";

const DELIMITERS = [",", ";", "\t", "|"] as const;
/** Enough to tell what separates the cells. */
const SAMPLE_UNITS = 16 * 1024;

/** A file of comma-, semicolon-, tab- or bar-separated values (RFC 4180). */
export const extract: Extractor = (bytes, { whole }) => {
  const decoded = decodeText(bytes, whole);
  if ("notText" in decoded) throw new Refusal("not text", decoded.notText);
  const { text, note } = decoded;
  const table = withTabs(text, delimiterOf(text.slice(0, SAMPLE_UNITS)));
  return {
    text: table.text,
    truncated: !whole,
    // Empty cells are white space: the text does not say in which columns the others stand.
    omits: table.hasGaps,
    notes: note === undefined ? [] : [note],
  };
};

function delimiterOf(sample: string): string {
  const unquoted = sample.replaceAll(/(?<=(?:^|[,;\t|\n]) *)"(?:[^"]|"")*"/g, "");
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

interface Table {
  readonly text: string;
  /** A cell is empty before another of its row. */
  readonly hasGaps: boolean;
}

function withTabs(text: string, delimiter: string): Table {
  // Only at the beginning of a cell does a quote open one; spaces before it are common.
  const opening = / *"/y;
  const rest = new RegExp(`[^\\n${delimiter}]*`, "y");
  const pieces: string[] = [];
  let hasGaps = false;
  let isAfterEmpty = false;
  for (let at = 0; at < text.length; at += 1) {
    let cell = "";
    opening.lastIndex = at;
    if (opening.test(text)) {
      const start = opening.lastIndex;
      const end = endOfQuoted(text, start);
      cell = text.slice(start, end).replaceAll('""', '"');
      at = end + 1;
    }
    rest.lastIndex = at;
    const [bare = ""] = rest.exec(text) ?? [];
    cell += bare;
    pieces.push(cell);
    at += bare.length;
    const isEmpty = cell.trim() === "";
    hasGaps ||= isAfterEmpty && !isEmpty;
    isAfterEmpty = text[at] !== "\n" && (isAfterEmpty || isEmpty);
    if (at < text.length) pieces.push(text[at] === "\n" ? "\n" : "\t");
  }
  return { text: pieces.join(""), hasGaps };
}

/** Where the quote is that closes a cell; two quotes are one of its characters. */
function endOfQuoted(text: string, start: number): number {
  for (let at = start; ;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    if (text[quote + 1] !== '"') return quote;
    at = quote + 2;
  }
}
