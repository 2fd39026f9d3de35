/**
 * The layout of every page: document head, demo banner, navigation, footer; and its response
 * headers.
 */
import type { PlainAnswer, RequestHeaders } from "../../src/kernel/service.ts";
import type { Assets } from "./assets.ts";
import { conditionalAnswer } from "./conditional.ts";
import { html, type Child, type View } from "./html.ts";
import { renderPieces } from "./render.ts";
import { nextTurn } from "../../src/kernel/async/turns.ts";

export interface PageOptions {
  /** Default 200. */
  readonly status?: number;
  /** In the window's title, before the product's name. */
  readonly title: string;
  readonly demo: boolean;
  /** Empty on pages that are open to everybody. */
  readonly version: string;
  /** The links of the navigation. */
  readonly nav: readonly {
    readonly href: string;
    readonly label: string;
    readonly here?: boolean;
  }[];
  /** The island: a browser module; none for a static page. */
  readonly module?: string;
  /** Data for the island, as JSON in an attribute. */
  readonly facts?: unknown;
  readonly body: View;
  /** Left side of the footer. */
  readonly foot?: Child;
}

/**
 * Allows no external sources and no inline scripts; where the browser supports trusted types, no
 * script can turn text into markup either.
 */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": PAGE_POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  // Stored but revalidated each time: a page changes with every status and may contain data for its
  // reader only.
  "cache-control": "private, no-cache",
};

/**
 * Compressed and with an entity tag as the request's headers ask. Rendered in parts, yielding to
 * the event loop, and sent whole.
 */
export async function pageAnswer(
  options: PageOptions,
  assets: Assets,
  request: RequestHeaders,
): Promise<PlainAnswer> {
  const pieces = ["<!doctype html>\n"];
  for (const piece of renderPieces(documentOf(options, assets))) {
    pieces.push(piece);
    await nextTurn();
  }
  return await conditionalAnswer(
    { status: options.status ?? 200, headers: HEADERS, body: `${pieces.join("")}\n` },
    request,
  );
}

const MARK =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath fill='%234a5fe0' d='M8 0l7 3v5c0 4-3 6.600-7 8-4-1.400-7-4-7-8V3z'/%3E%3C/svg%3E";

function documentOf(options: PageOptions, assets: Assets): View {
  const { title, module, body } = options;
  return html`<html lang="en">
    <head>
      <meta charset="utf-8" /><meta name="viewport" content="width=device-width, initial-scale=1" /><meta name="color-scheme" content="light dark" />
      <title>${title} – Steward</title>
      <link rel="icon" href=${MARK} /><link rel="stylesheet" href=${assets.url("steward.css")} />
      <script src=${assets.url("early.js")}></script>
      ${module === undefined ? undefined : assets.modules(module).map((href) => html`<link rel="modulepreload" href=${href} />`)}
      ${module === undefined ? undefined : html`<script type="module" src=${assets.url(module)}></script>`}
    </head>
    <body>
      <a class="skip" href="#app">To the content</a>
      ${options.demo ? html`<aside class="demo" aria-label="Demo"><strong>This is a demo.</strong> Network, documents and code host are invented; nothing of yours is read or changed.</aside>` : undefined}
      ${bar(options)}
      <div class="frame" id="stale"></div>
      <main class="frame" id="app" data-facts=${options.facts === undefined ? undefined : JSON.stringify(options.facts)}>${body}</main>
      <footer class="foot"><div class="frame"><div class="live" id="live">${options.foot}</div></div></footer>
      <div id="toasts" role="status" aria-live="polite"></div>
    </body>
  </html>`;
}

function bar({ nav, version }: PageOptions): View {
  return html`<header class="bar"><div class="frame">
    <a class="brand" href="/"><svg viewBox="0 0 16 16" aria-hidden="true"><path fill="currentColor" d="M8 0l7 3v5c0 4-3 6.600-7 8-4-1.400-7-4-7-8V3z" /></svg><h1>Steward</h1></a>
    ${version === "" ? undefined : html`<span class="version">${version}</span>`}
    <nav aria-label="Pages">${nav.map(({ href, label, here }) => html`<a href=${href} aria-current=${here === true ? "page" : undefined}>${label}</a>`)}</nav>
    <button type="button" class="theme quiet scripted" data-theme-switch><svg viewBox="0 0 16 16" aria-hidden="true"><path fill="currentColor" d="M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm0 1.600v10.800A5.400 5.400 0 0 1 8 2.600Z" /></svg><span data-theme-name>Colours</span></button>
  </div></header>`;
}
