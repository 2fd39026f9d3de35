/** A titled part of a panel. */
import { html, type Child, type View } from "../html.ts";

/** The section; `note` is a sentence about its content. */
export function part(title: string, body: Child, note?: Child): View {
  return html`<section class="part"><h3>${title}</h3>${note === undefined ? undefined : html`<p class="note">${note}</p>`}${body}</section>`;
}

/** The text of an empty section, with what to do about it. */
export function empty(text: Child): View {
  return html`<p class="empty">${text}</p>`;
}
