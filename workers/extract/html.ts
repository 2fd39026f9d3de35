/** HTML to the text a reader sees: no addresses, no scripts, each cell of a table by itself. */
import { convert } from "html-to-text";
import type { DomNode, FormatCallback, HtmlToTextOptions } from "html-to-text";
import { decodeMarkup } from "../text/decode.ts";
import { Refusal } from "./extractor.ts";
import type { Extracted, Extractor } from "./extractor.ts";

/** Stands for what lies deeper than is read: a character that no text may hold. */
const LEFT_OUT = "\ufdd0";

/** Where XHTML declares itself. */
const DECLARED_WITHIN = 4 * 1024;

/**
 * `<name …/>`. No part of it runs past the next `<`, so that the time is in proportion to the size;
 * XML allows none in a value.
 */
const EMPTY_ELEMENT = /<([a-z][^\s<>/"']*)(?=[\s/])((?:[^<>"']|"[^<"]*"|'[^<']*')*)\/>/gi;

const VOID_ELEMENT =
  /^(area|base|basefont|br|col|command|embed|frame|hr|img|input|isindex|keygen|link|meta|param|source|track|wbr)$/i;

/** Elements that stand apart from their neighbours, beside those that the library knows. */
const BLOCKS =
  "address blockquote body caption center dd details dt fieldset figcaption figure legend optgroup summary td th";

/** Fields that show their value. What is hidden, a secret or the label of a button is left out. */
const TEXT_INPUT =
  /^(?!(?:hidden|password|submit|button|reset|image|file|checkbox|radio|color|range)$)/i;
const CHECKED = " \u2612 ";

/** Facts of a page that its text does not say. */
interface PageFacts {
  /** A table has an empty cell before others of its row. */
  hasGaps: boolean;
}

// A table as a grid would be padded to the width of its columns, and that counts as text.
const options: HtmlToTextOptions = {
  wordwrap: false,
  // All of the page: a browser shows what stands before and behind its body, too.
  baseElements: { selectors: [] },
  limits: { maxDepth: 200, maxInputLength: 1 << 24, ellipsis: LEFT_OUT },
  formatters: {
    list: formatList,
    title: formatTitle,
    row: formatRow,
    input: formatInput,
    option: formatOption,
  },
  selectors: [
    ...["ol", "ul"].map((selector) => ({ selector, format: "list" })),
    { selector: "a", options: { ignoreHref: true } },
    { selector: "img", format: "skip" },
    { selector: "title", format: "title" },
    { selector: "head > xml", format: "skip" },
    { selector: "tr", format: "row" },
    { selector: "input", format: "input" },
    { selector: "table", format: "block" },
    ...BLOCKS.split(" ").map((selector) => ({
      selector,
      format: "block",
      options: { leadingLineBreaks: 1, trailingLineBreaks: 1 },
    })),
    { selector: "option", format: "option" },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
      selector,
      options: { uppercase: false },
    })),
  ],
};

/**
 * Each item on lines of its own, behind its number or `*`. The library would indent all lines of an
 * item: nested lists make gigabytes of a megabyte so, and one such allocation may end the process
 * instead of the worker's thread.
 */
function formatList(...[list, walk, builder]: Parameters<FormatCallback>): void {
  let number = firstNumber(list);
  builder.openBlock({ leadingLineBreaks: 1 });
  for (const child of list.children ?? []) {
    builder.openBlock({ leadingLineBreaks: 1 });
    if (child.name === "li") builder.addInline(list.name === "ol" ? `${number++}. ` : "* ");
    walk([child], builder);
    builder.closeBlock({ trailingLineBreaks: 1 });
  }
  builder.closeBlock({ trailingLineBreaks: 1 });
}

/** Leaves out the title of the page, but not that of a drawing in it. */
function formatTitle(...[title, walk, builder]: Parameters<FormatCallback>): void {
  if (!["head", "html", undefined].includes(title.parent?.name)) walk(title.children, builder);
}

/** The cells of a row one after the other. An empty one before others is white space in the text. */
function formatRow(...[row, walk, builder]: Parameters<FormatCallback>): void {
  const cells = row.children.filter(({ name }) => name === "td" || name === "th");
  const first = cells.findIndex(isEmptyCell);
  if (cells.length > 2 && first >= 0 && cells.slice(first).some((cell) => !isEmptyCell(cell)))
    (builder as unknown as { metadata: PageFacts }).metadata.hasGaps = true;
  walk(row.children, builder);
}

/** Without text and without pictures, tables and the like. */
function isEmptyCell({ children }: DomNode): boolean {
  return children.every(
    ({ type, name, data = "" }) =>
      name === "br" || (type !== "tag" && (type !== "text" || data.trim() === "")),
  );
}

/** The value of a text field, or the mark of a checked box or radio button. */
function formatInput(...[{ attribs }, , builder]: Parameters<FormatCallback>): void {
  const { type = "text", value = "", checked } = attribs as Readonly<Record<string, string>>;
  if (TEXT_INPUT.test(type)) builder.addInline(` ${value} `);
  else if (/^(?:checkbox|radio)$/i.test(type) && checked !== undefined) builder.addInline(CHECKED);
}

function formatOption(...[option, walk, builder]: Parameters<FormatCallback>): void {
  builder.openBlock({ leadingLineBreaks: 1 });
  if (Object.hasOwn(option.attribs as object, "selected")) builder.addInline(CHECKED);
  walk(option.children, builder);
  builder.closeBlock({ trailingLineBreaks: 1 });
}

/** Of an ordered list. */
function firstNumber({ attribs }: DomNode): number {
  const start = Number.parseInt(String(attribs?.["start"] ?? ""), 10);
  return Math.abs(start) < 2 ** 31 ? start : 1;
}

/** An HTML file. A megabyte takes 150 ms and more, deep nesting the square of its depth. */
export const extract: Extractor = (bytes, { whole }): Extracted => {
  const decoded = decodeMarkup(bytes, whole);
  if ("notText" in decoded) throw new Refusal("not text", decoded.notText);
  const { text: html, note } = decoded;
  const { text, complete, hasGaps } = isXhtml(html) ? xhtmlToText(html) : htmlToText(html);
  return {
    text,
    truncated: !whole || !complete,
    omits: hasGaps,
    title: titleOf(html),
    notes: [
      ...(note === undefined ? [] : [note]),
      ...(whole ? [] : ["read up to 4 MiB of its HTML"]),
      ...(complete ? [] : ["read up to 200 levels of its HTML"]),
    ],
  };
};

interface PageText {
  readonly text: string;
  /** False when the page nests more than 200 deep. */
  readonly complete: boolean;
  /** True when a table has an empty cell before others, so that the text does not say its columns. */
  readonly hasGaps: boolean;
}

/** The text of a page or of a part of one, of at most 4 Mi UTF-16 units. */
export function htmlToText(html: string): PageText {
  const facts: PageFacts = { hasGaps: false };
  const text = convert(html.replaceAll(LEFT_OUT, ""), options, facts);
  const all = text.replaceAll(LEFT_OUT, "");
  return { text: all, complete: all.length === text.length, ...facts };
}

/** As `htmlToText`, by the rules of XML for what is empty and what is text. */
export function xhtmlToText(xhtml: string): PageText {
  const html = withoutCdata(xhtml).replaceAll(
    EMPTY_ELEMENT,
    (tag: string, name: string, attributes: string) =>
      VOID_ELEMENT.test(name) ? tag : `<${name}${attributes}></${name}>`,
  );
  return htmlToText(html);
}

function isXhtml(html: string): boolean {
  const head = html.slice(0, DECLARED_WITHIN);
  return /^\s*<\?xml\s|\bxmlns\s*=\s*["']http:\/\/www\.w3\.org\/1999\/xhtml["']/.test(head);
}

/** CDATA sections as text, which HTML would take for comments. */
function withoutCdata(xhtml: string): string {
  const [before = "", ...sections] = xhtml.split("<![CDATA[");
  return (
    before +
    sections
      .map((section) => {
        const end = section.indexOf("]]>");
        return end < 0
          ? section
          : section.slice(0, end).replaceAll("<", "&lt;") + section.slice(end + 3);
      })
      .join("")
  );
}

/** From `<title>`. */
export function titleOf(html: string): string | undefined {
  const inner = /<title\b[^<>]*>([^<]{0,2000})/i.exec(html.slice(0, 65_536))?.[1];
  if (inner === undefined) return undefined;
  const title = convert(inner, { wordwrap: false }).trim();
  return title === "" ? undefined : title;
}
