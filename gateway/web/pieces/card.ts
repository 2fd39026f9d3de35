/** A card: a titled box that answers one question. */
import { html, type Child, type View } from "../html.ts";
import type { State } from "./state.ts";
import { badge } from "./state.ts";

/** The content of a card. */
export interface CardOptions {
  readonly title: string;
  /** Where a click anywhere on the card leads; the title is the link. */
  readonly href?: string | undefined;
  readonly state?: readonly [state: State, word: string];
  readonly body: Child;
  /** Where to read on. */
  readonly links?: readonly { readonly href: string; readonly label: string }[];
}

/** A card with its state at the top right and its links at the foot. */
export function card({ title, href, state, body, links = [] }: CardOptions): View {
  return html`<section class="card">
    <header><h2>${href === undefined ? title : html`<a class="whole" href=${href} data-tab=${href.startsWith("#") ? href.slice(1) : undefined}>${title}</a>`}</h2>${state === undefined ? undefined : badge(state[0], state[1])}</header>
    <div class="body">${body}</div>
    ${links.length === 0 ? undefined : html`<footer>${links.map(({ href, label }) => html`<a href=${href}>${label}</a>`)}</footer>`}
  </section>`;
}

/** One figure with its name; `detail` in small below it. */
export interface Figure {
  readonly label: string;
  readonly value: Child;
  readonly detail?: Child;
}

/** Figures side by side: name above, figure large. */
export function figures(rows: readonly Figure[]): View {
  return html`<dl class="figures">${rows.map(
    ({ label, value, detail }) =>
      html`<div><dt>${label}</dt><dd>${value}${detail === undefined ? undefined : html`<small>${detail}</small>`}</dd></div>`,
  )}</dl>`;
}
