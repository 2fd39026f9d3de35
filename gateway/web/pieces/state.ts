/**
 * The four states of anything here. Each has a shape beside its colour, and a word stands with it.
 */
import { html, type Child, type View } from "../html.ts";

/**
 * `bad` needs somebody now, `notice` soon or perhaps, `unknown` is not known yet or switched off.
 */
export type State = "good" | "notice" | "bad" | "unknown";

const WORST_FIRST: readonly State[] = ["bad", "notice", "unknown", "good"];

/** The worst of several; `unknown` of none. */
export function worst(states: readonly State[]): State {
  return WORST_FIRST.find((state) => states.includes(state)) ?? "unknown";
}

/** The shape of a state: a tick in a disc, a triangle, an octagon with a cross, a ring. */
export function stateIcon(state: State): View {
  return html`<svg class=${`icon ${state}`} viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">${SHAPES[state]()}</svg>`;
}

const SHAPES: Readonly<Record<State, () => View>> = {
  good: () =>
    html`<g><circle class="fill" cx="8" cy="8" r="7" /><path class="mark" d="M4.8 8.3 7.1 10.6 11.3 5.9" /></g>`,
  notice: () =>
    html`<g><path class="fill" d="M8 1.2 15.4 14.4H.6Z" /><path class="mark" d="M8 6v4M8 12v.4" /></g>`,
  bad: () =>
    html`<g><path class="fill" d="M5 .9h6L15.1 5v6L11 15.1H5L.9 11V5Z" /><path class="mark" d="M5.6 5.6l4.8 4.8M10.4 5.6l-4.8 4.8" /></g>`,
  unknown: () => html`<circle class="ring" cx="8" cy="8" r="6.2" />`,
};

/** A state with its word in a pill. */
export function badge(state: State, word: Child): View {
  return html`<span class=${`badge ${state}`}>${stateIcon(state)}<span>${word}</span></span>`;
}

/** A state with its word in running text. */
export function stateText(state: State, word: Child): View {
  return html`<span class=${`state ${state}`}>${stateIcon(state)}<span>${word}</span></span>`;
}

/** On or off, said in words. */
export function onOff(
  on: boolean,
  words: readonly [on: string, off: string] = ["on", "off"],
): string {
  return on ? words[0] : words[1];
}
