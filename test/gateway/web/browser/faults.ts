/** Checks of a rendered page: console, rules of axe, horizontal overflow. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";
import type { Watched } from "./chromium.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** Best practices included. In the dark nothing but the colours differs. */
const VIOLATIONS =
  "axe.run(document, { resultTypes: ['violations'], ...(matchMedia('(prefers-color-scheme: dark)').matches ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {}) }).then(({ violations }) => violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 200)} ${failureSummary}`).join(' | ')}`))";
/** A row of tabs and a table may scroll by themselves. */
const CUT_OFF =
  "[...document.querySelectorAll('main *, header *')].filter((each) => getComputedStyle(each).overflowX === 'visible' && !each.closest('.scroll, .tab-row, svg, .sr') && each.getBoundingClientRect().right > innerWidth + 1).slice(0, 3).map((each) => `beyond the edge: ${each.outerHTML.slice(0, 120)}`)";

/** Rules of axe that the page breaks in the light, and in the dark. It is light afterwards. */
export async function brokenRules(page: Page): Promise<string[]> {
  if ((await page.evaluate("typeof axe")) === "undefined") await page.evaluate(axe);
  const found: string[] = [];
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    const broken = await page.evaluate<string[]>(VIOLATIONS);
    found.push(...broken.map((each) => `${colorScheme}: ${each}`));
  }
  return found;
}

/**
 * Complaints of the console, broken rules, sideways scrolling, text beyond the edge, in the light
 * and in the dark. Axe turns text into markup, about which the console complains unless the page was
 * opened with `bypassCSP`.
 */
export async function pageFaults({ page, complaints }: Watched): Promise<string[]> {
  const found = complaints.splice(0);
  found.push(...(await brokenRules(page)));
  const wide = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
  if (wide > 0) found.push(`scrolls sideways by ${wide} pixels`);
  found.push(...(await page.evaluate<string[]>(CUT_OFF)));
  return found;
}
