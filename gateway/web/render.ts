/**
 * Views written out as HTML (WHATWG HTML §13.3). What is not a tag of a template is escaped: there
 * is no way around it.
 */
import { isValidElement } from "preact";
import { assert } from "../../src/kernel/base/errors.ts";
import type { Later, View } from "./html.ts";

const VOID: ReadonlySet<string> = new Set([
  "area",
  "base",
  "br",
  "col",
  "embed",
  "hr",
  "img",
  "input",
  "link",
  "meta",
  "source",
  "track",
  "wbr",
]);
/** Their content is no text to a parser, so that escaping would not hold in it. */
const RAW: ReadonlySet<string> = new Set([
  "script",
  "style",
  "iframe",
  "noembed",
  "noframes",
  "noscript",
  "plaintext",
  "template",
  "xmp",
]);
const NAME = /^[a-zA-Z][\w:.-]*$/;
/** Deeper is a mistake of ours. */
const MAX_DEPTH = 200;

/**
 * Renders a view in pieces: the text before each deferred part, and then that part.
 * Throws an assertion for what a page may not hold: raw markup, inline scripts and styles,
 * handlers.
 */
export function* renderPieces(view: View | readonly View[]): Generator<string, void, undefined> {
  const out: string[] = [];
  for (const _ of write(view, out, 0)) yield out.splice(0).join("");
  yield out.join("");
}

/** Text as HTML shows it, in elements and quoted attributes. */
export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text)
    ? text
        .replaceAll("&", "&amp;")
        .replaceAll("<", "&lt;")
        .replaceAll(">", "&gt;")
        .replaceAll('"', "&quot;")
        .replaceAll("'", "&#39;")
    : text;
}

/** Pauses before and after each part that is made later. */
function* write(part: unknown, out: string[], depth: number): Generator<void, void, undefined> {
  assert(depth < MAX_DEPTH, "a view is not nested without end");
  if (typeof part === "function") {
    yield;
    yield* write((part as Later)(), out, depth + 1);
    yield;
    return;
  }
  if (part === undefined || part === null || typeof part === "boolean") return;
  if (typeof part === "string" || typeof part === "number")
    return void out.push(escapeHtml(String(part)));
  if (Array.isArray(part)) {
    for (const each of part as readonly unknown[]) yield* write(each, out, depth + 1);
    return;
  }
  assert(isValidElement(part), "a part of a template is text, a number, a view or a list of these");
  yield* writeElement(part, out, depth);
}

function* writeElement(
  { type, props }: View,
  out: string[],
  depth: number,
): Generator<void, void, undefined> {
  assert(typeof type === "string" && NAME.test(type), "a template holds elements only");
  const { children, ...attributes } = props as Readonly<Record<string, unknown>>;
  out.push("<", type);
  for (const [name, value] of Object.entries(attributes)) writeAttribute(name, value, out);
  out.push(">");
  if (VOID.has(type)) return;
  assert(!RAW.has(type) || isEmpty(children), `<${type}> has no content of its own in a page`);
  yield* write(children, out, depth + 1);
  out.push("</", type, ">");
}

function writeAttribute(name: string, value: unknown, out: string[]): void {
  if (name === "key" || name === "ref") return;
  assert(
    NAME.test(name) &&
      !/^on/i.test(name) &&
      name !== "style" &&
      name !== "srcdoc" &&
      name !== "dangerouslySetInnerHTML",
    `an element of a page has no attribute ${name}`,
  );
  // As in preact: aria-hidden=${true} becomes aria-hidden="true", hidden=${true} has no value.
  const spelled = typeof value === "boolean" && /^(aria|data)-/.test(name) ? String(value) : value;
  if (spelled === undefined || spelled === null || spelled === false) return;
  if (spelled === true) return void out.push(" ", name);
  assert(
    typeof spelled === "string" || typeof spelled === "number",
    `the attribute ${name} is text or a number`,
  );
  out.push(" ", name, '="', escapeHtml(String(spelled)), '"');
}

function isEmpty(children: unknown): boolean {
  return (
    children === undefined ||
    children === null ||
    (Array.isArray(children) && children.length === 0)
  );
}
