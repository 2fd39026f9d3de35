/**
 * A page that is one file: style and script are in it, and its policy lets it load nothing else, so
 * that it can be kept, sent and opened from a disk.
 */
import { createHash } from "node:crypto";
import { html, type View } from "../html.ts";
import { renderPieces } from "../render.ts";
import { makeReportFiles } from "../report-files.ts";

/** A page, in parts. */
export interface ReportDocument {
  readonly title: string;
  /** Beside the title of the product, e.g. when the page was made. */
  readonly about: string;
  /** The parts of the page in order, each written when its turn comes. */
  readonly parts: AsyncIterable<View> | Iterable<View>;
}

/** The file in pieces. */
export async function* reportDocument({
  title,
  about,
  parts,
}: ReportDocument): AsyncGenerator<string> {
  const { style, early, script } = makeReportFiles();
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    `script-src '${hashOf(early)}' '${hashOf(script)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
  const head = html`<meta charset="utf-8" /><meta http-equiv="content-security-policy" content=${policy} /><meta name="referrer" content="no-referrer" /><meta name="viewport" content="width=device-width, initial-scale=1" /><meta name="color-scheme" content="light dark" /><title>${title} – Steward</title>`;
  yield `<!doctype html>\n<html lang="en"><head>${text(head)}\n<style>${style}</style><script>${early}</script></head>\n<body class="report">`;
  yield text(bar(about));
  yield `<main class="frame stack" id="app">`;
  for await (const part of parts) yield* renderPieces(part);
  yield `</main><script>${script}</script></body></html>\n`;
}

function hashOf(content: string): string {
  return `sha256-${createHash("sha256").update(content).digest("base64")}`;
}

function text(view: View | readonly View[]): string {
  return [...renderPieces(view)].join("");
}

function bar(about: string): readonly View[] {
  return [
    html`<a class="skip" href="#app">To the content</a>`,
    html`<header class="bar"><div class="frame">
      <span class="brand"><svg viewBox="0 0 16 16" aria-hidden="true"><path fill="currentColor" d="M8 0l7 3v5c0 4-3 6.600-7 8-4-1.400-7-4-7-8V3z" /></svg><h1>Steward</h1></span>
      <span class="version">${about}</span>
      <button type="button" class="theme quiet scripted" data-theme-switch><svg viewBox="0 0 16 16" aria-hidden="true"><path fill="currentColor" d="M8 1a7 7 0 1 0 0 14A7 7 0 0 0 8 1Zm0 1.600v10.800A5.400 5.400 0 0 1 8 2.600Z" /></svg><span data-theme-name>Colours</span></button>
    </div></header>`,
  ];
}
