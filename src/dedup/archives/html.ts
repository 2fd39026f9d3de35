/** Turns the HTML documents of a batch into text on the pool. */
import { htmlToText } from "../../../workers/extract/tasks.ts";
import type { HtmlText } from "../../../workers/extract/tasks.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import { TEXT_UNITS } from "../documents/limits.ts";
import type { ArchiveDocument, ArchiveItem } from "./archive.ts";
import { failed } from "./archive.ts";
import { cleanTitle } from "./titles.ts";
import { createDeadline } from "../../kernel/base/deadline.ts";
import { systemClock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";

/** How long one page may take; deeply nested markup costs the square of its depth. */
const PAGE_MS = 20_000;

/** A document whose text is still HTML. */
export interface HtmlDocument extends ArchiveDocument {
  readonly html: true;
}

/** Whether an item's text is still HTML. */
function isHtml(item: ArchiveItem): item is HtmlDocument {
  return item.kind === "document" && "html" in item;
}

/**
 * The items with every page converted; a page that cannot be becomes a skipped item and harms no
 * other.
 */
export async function convertHtml(
  items: readonly ArchiveItem[],
  pool: Pool,
  signal: AbortSignal,
): Promise<ArchiveItem[]> {
  const pages = items.filter(isHtml);
  if (pages.length === 0) return [...items];
  const texts = await convertAll(pages, pool, signal);
  let at = 0;
  return items.map((item) => (isHtml(item) ? asText(item, texts[at++]) : item));
}

/**
 * Together first. When that fails each page is tried once on its own, so that one that ends workers
 * has ended two.
 */
async function convertAll(
  pages: readonly HtmlDocument[],
  pool: Pool,
  signal: AbortSignal,
): Promise<(HtmlText | undefined)[]> {
  const together = await convert(pages, pool, signal);
  if (together !== undefined) return together;
  const texts: (HtmlText | undefined)[] = [];
  for (const page of pages) texts.push((await convert([page], pool, signal))?.[0]);
  return texts;
}

/** Undefined when one of the pages breaks the task or its worker, or takes too long. */
async function convert(
  pages: readonly HtmlDocument[],
  pool: Pool,
  signal: AbortSignal,
): Promise<HtmlText[] | undefined> {
  const tooLong = (): StewardError => new StewardError("deadline", "the page takes too long");
  using deadline = createDeadline(systemClock, PAGE_MS, signal, tooLong);
  const input = pages.map((page) => ({ html: page.text, units: TEXT_UNITS + 1 }));
  try {
    for await (const texts of pool.map(htmlToText, [input], {
      signal: deadline.signal,
      inFlight: 1,
      tries: 1,
    }))
      return texts;
  } catch {
    signal.throwIfAborted();
  }
  return undefined;
}

function asText(page: HtmlDocument, converted: HtmlText | undefined): ArchiveItem {
  if (converted === undefined)
    return failed(page.ref, "broken HTML", "its HTML cannot be converted to text", "none");
  const { html: _, ...document } = page;
  const title = converted.title === undefined ? "" : cleanTitle(converted.title);
  return { ...document, text: converted.text, title: title === "" ? page.title : title };
}
