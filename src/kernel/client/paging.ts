/** How lists name their next page: a page number until `next` is null, or a Link header. */
import type { NextPage, Page, Query } from "./types.ts";

/** Counts pages in a parameter until the member `next` beside the list is null or missing. The address in it is not followed. */
export function byPageNumber(parameter: string): (page: Page) => NextPage | undefined {
  return (page) => {
    const next = page.beside.get("next");
    return next === undefined || next === null ? undefined : { query: { [parameter]: page.number + 1 } satisfies Query };
  };
}

/** Follows `Link: <…>; rel="next"` (RFC 8288). */
export function byLink(page: Page): NextPage | undefined {
  const header = page.headers["link"];
  if (header === undefined) return undefined;
  for (const [, link, parameters] of header.matchAll(/<([^<>]{1,4000})>([^<]{0,1000})/g)) {
    if (link !== undefined && /;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?:[\s;,]|$))/i.test(parameters ?? "")) return { link };
  }
  return undefined;
}
