/**
 * HTML to the text a reader sees: no addresses, no scripts, tables in rows. Runs on the pool: a
 * megabyte takes 150 ms and more.
 */
import { convert } from "html-to-text";
import type { HtmlToTextOptions } from "html-to-text";
import { stopped } from "../control.ts";
import type { TaskControl } from "../control.ts";
import type { HtmlPage, HtmlText } from "./tasks.ts";

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

/** The pages' texts and titles, in order. Throws `cancelled`. */
export function run(pages: readonly HtmlPage[], control: TaskControl): HtmlText[] {
  const texts: HtmlText[] = [];
  for (const { html, units } of pages) {
    if (control.cancelled()) throw stopped();
    texts.push({ text: cut(convert(html, options), units), title: titleOf(html) });
    control.step(1);
  }
  return texts;
}

function titleOf(html: string): string | undefined {
  const inner = /<title\b[^>]*>([^<]{0,2000})/i.exec(html.slice(0, 65_536))?.[1];
  if (inner === undefined) return undefined;
  const title = convert(inner, { wordwrap: false }).trim();
  return title === "" ? undefined : title;
}

function cut(text: string, units: number): string {
  if (text.length <= units) return text;
  const last = text.charCodeAt(units - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? units - 1 : units);
}
