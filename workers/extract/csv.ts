/**
 * CSV to rows whose cells are separated by tabs, so that each cell has words of its own. Cells stay
 * as they are written but for their quotes.
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
  return {
    text: withTabs(text, delimiterOf(text.slice(0, SAMPLE_UNITS))),
    truncated: !whole,
    notes: note === undefined ? [] : [note],
  };
};

function delimiterOf(sample: string): string {
  const unquoted = sample.replaceAll(/"[^"]*"/g, "");
  const counts = DELIMITERS.map((delimiter) => unquoted.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] ?? ",";
}

function withTabs(text: string, delimiter: string): string {
  const bare = new RegExp(`[^"\\n${delimiter === "|" ? "\\|" : delimiter}]+`, "y");
  const pieces: string[] = [];
  for (let at = 0; at < text.length;) {
    const char = text[at];
    if (char === '"') {
      const end = endOfQuoted(text, at + 1);
      pieces.push(text.slice(at + 1, end).replaceAll('""', '"'));
      at = end + 1;
    } else if (char === delimiter || char === "\n") {
      pieces.push(char === delimiter ? "\t" : "\n");
      at += 1;
    } else {
      bare.lastIndex = at;
      const cell = bare.exec(text)?.[0] ?? "";
      pieces.push(cell);
      at += cell.length;
    }
  }
  return pieces.join("");
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
