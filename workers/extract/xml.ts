/**
 * XML to text by a parser that declares no entities: what a document type defines is never
 * expanded, so a small file cannot become a large text.
 */
import { Parser } from "htmlparser2";
import { decodeMarkup } from "../text/decode.ts";
import { Refusal } from "./extractor.ts";
import type { Extractor } from "./extractor.ts";

/** Text that is parsed in one go: what follows enough text is not parsed at all. */
const SLICE_UNITS = 64 * 1024;

/** A document type stands at the beginning. */
const TYPE_WITHIN = 4 * 1024;

/** Of one element. The parser keeps them all, and one object of millions ends the whole process. */
const MAX_ATTRIBUTES = 10_000;

/** The events of a document, names with their prefixes, e.g. `w:p`. */
export interface XmlHandler {
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
  text?(text: string): void;
}

/** Parses until the end or until `enough` says so; true when the whole was parsed. */
export function parseXml(xml: string, handler: XmlHandler, enough: () => boolean): boolean {
  let attributes = 0;
  const parser = new Parser(
    {
      onopentagname: () => (attributes = 0),
      onattribute() {
        attributes += 1;
        if (attributes > MAX_ATTRIBUTES)
          throw new Refusal("broken XML", "has an element of more than 10,000 attributes");
      },
      onopentag: (name, attributes) => handler.open?.(name, attributes),
      onclosetag: (name) => handler.close?.(name),
      ontext: (text) => handler.text?.(text),
    },
    { xmlMode: true },
  );
  const text = withoutDeclarations(xml);
  for (let at = 0; at < text.length; at += SLICE_UNITS) {
    if (enough()) return false;
    parser.write(text.slice(at, at + SLICE_UNITS));
  }
  parser.end();
  return true;
}

/** Without what stands in brackets in a document type, which the parser would take for text. */
function withoutDeclarations(xml: string): string {
  const start = xml.slice(0, TYPE_WITHIN).indexOf("<!DOCTYPE");
  if (start < 0) return xml;
  const subset = /<!DOCTYPE[^[>]*\[[^]*?\]\s*>/y;
  subset.lastIndex = start;
  const [found = ""] = subset.exec(xml) ?? [];
  return xml.slice(0, start) + xml.slice(start + found.length);
}

/** An XML file: the text of its elements and the values of their attributes. */
export const extract: Extractor = (bytes, { units, whole }) => {
  const decoded = decodeMarkup(bytes, whole);
  if ("notText" in decoded) throw new Refusal("not text", decoded.notText);
  const pieces: string[] = [];
  let length = 0;
  const add = (piece: string): void => {
    pieces.push(piece);
    length += piece.length;
  };
  const all = parseXml(
    decoded.text,
    {
      open(_, attributes) {
        for (const [name, value] of Object.entries(attributes))
          if (!/^xmlns(:|$)|:schemaLocation$/.test(name)) add(`\n${value}`);
        add("\n");
      },
      close: () => add("\n"),
      text: add,
    },
    () => length > units * 2,
  );
  return {
    text: withoutEmptyLines(pieces.join("")),
    truncated: !whole || !all,
    // Names of elements and attributes say what their values mean.
    omits: true,
    notes: decoded.note === undefined ? [] : [decoded.note],
  };
};

// White space with a line end becomes one; each run is looked at once, from its beginning.
function withoutEmptyLines(text: string): string {
  return text.replaceAll(/(?<!\s)\s+/g, (run) => (run.includes("\n") ? "\n" : run));
}
