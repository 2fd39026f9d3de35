/** HTML to the text a reader sees: no addresses, no scripts, tables in rows. */
import { convert } from "html-to-text";
import type { HtmlToTextOptions } from "html-to-text";
import { decodeMarkup } from "../text/decode.ts";
import { Refusal } from "./extractor.ts";
import type { Extracted, Extractor } from "./extractor.ts";

const options: HtmlToTextOptions = {
  wordwrap: false,
  limits: { maxDepth: 200, maxInputLength: 1 << 23 },
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
  return {
    text: htmlToText(html),
    truncated: !whole,
    title: titleOf(html),
    notes: [
      ...(note === undefined ? [] : [note]),
      ...(whole ? [] : ["read up to 4 MiB of its HTML"]),
    ],
  };
};

/** The text of a page or of a part of one. */
export function htmlToText(html: string): string {
  return convert(html, options);
}

/** From `<title>`. */
export function titleOf(html: string): string | undefined {
  const inner = /<title\b[^>]*>([^<]{0,2000})/i.exec(html.slice(0, 65_536))?.[1];
  if (inner === undefined) return undefined;
  const title = convert(inner, { wordwrap: false }).trim();
  return title === "" ? undefined : title;
}
