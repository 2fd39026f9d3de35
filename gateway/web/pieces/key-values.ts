/** A list of names with values. */
import { html, type Child, type View } from "../html.ts";

/**
 * A name with its value; undefined rows are omitted, so that a list can be written with conditions.
 */
export type KeyValue = readonly [name: Child, value: Child] | undefined;

/** In as many columns as fit. */
export function keyValues(rows: readonly KeyValue[]): View {
  return html`<dl class="key-values">${rows.map((row) => (row === undefined ? undefined : html`<div><dt>${row[0]}</dt><dd>${row[1] ?? "–"}</dd></div>`))}</dl>`;
}

/** Texts in a row as small labels; `none` where there are none. */
export function listView(list: readonly string[] | undefined, none = "none"): View {
  if (list === undefined || list.length === 0) return html`<span class="muted">${none}</span>`;
  return html`<span class="words">${list.map((word) => html`<code>${word}</code>`)}</span>`;
}
