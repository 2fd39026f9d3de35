/** HTML to the text a reader sees: no addresses, no scripts, tables in rows. */
import { convert } from "html-to-text";
import type { HtmlToTextOptions } from "html-to-text";
import { decodeMarkup } from "../text/decode.ts";
import { Refusal } from "./extractor.ts";
import type { Extracted, Extractor } from "./extractor.ts";

/** Stands for what lies deeper than is read: a character that no text may hold. */
const LEFT_OUT = "\ufdd0";

const options: HtmlToTextOptions = {
  wordwrap: false,
  limits: { maxDepth: 200, maxInputLength: 1 << 23, ellipsis: LEFT_OUT },
  selectors: [
    { selector: "a", options: { ignoreHref: true } },
    { selector: "img", format: "skip" },
    { selector: "table", format: "dataTable", options: { uppercaseHeaderCells: false } },
    ...["h1", "h2", "h3", "h4", "h5", "h6"].map((selector) => ({
      selector,
      options: { uppercase: false },
    })),
  ],
};

/** An HTML file. A megabyte takes 150 ms and more, deep nesting the square of its depth. */
export const extract: Extractor = (bytes, { whole }): Extracted => {
  const decoded = decodeMarkup(bytes, whole);
  if ("notText" in decoded) throw new Refusal("not text", decoded.notText);
  const { text: html, note } = decoded;
  const { text, complete } = htmlToText(html);
  return {
    text,
    truncated: !whole || !complete,
    title: titleOf(html),
    notes: [
      ...(note === undefined ? [] : [note]),
      ...(whole ? [] : ["read up to 4 MiB of its HTML"]),
      ...(complete ? [] : ["read up to 200 levels of its HTML"]),
    ],
  };
};

/** The text of a page or of a part of one; not complete when it nests more than 200 deep. */
export function htmlToText(html: string): { readonly text: string; readonly complete: boolean } {
  const text = convert(html.replaceAll(LEFT_OUT, ""), options);
  const all = text.replaceAll(LEFT_OUT, "");
  return { text: all, complete: all.length === text.length };
}

/** From `<title>`. */
export function titleOf(html: string): string | undefined {
  const inner = /<title\b[^>]*>([^<]{0,2000})/i.exec(html.slice(0, 65_536))?.[1];
  if (inner === undefined) return undefined;
  const title = convert(inner, { wordwrap: false }).trim();
  return title === "" ? undefined : title;
}
