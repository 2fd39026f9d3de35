/** Pagination styles. */
import type { NextPage, Page } from "./types.ts";

/** Follows `Link: <…>; rel="next"` (RFC 8288). */
export function byLink(page: Page): NextPage | undefined {
  const header = page.headers["link"];
  if (header === undefined) return undefined;
  for (const [, link, parameters] of header.matchAll(/<([^<>]{1,4000})>([^<]{0,1000})/g)) {
    if (
      link !== undefined &&
      /;\s*rel\s*=\s*(?:"(?:[^"]*\s)?next(?:\s[^"]*)?"|next(?:[\s;,]|$))/i.test(parameters ?? "")
    )
      return { link };
  }
  return undefined;
}
