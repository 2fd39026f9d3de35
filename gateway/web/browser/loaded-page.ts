/**
 * A page that is loaded from the API and drawn again for each change of its address. Answers that
 * come after a newer request was made are dropped.
 */
import { render } from "preact";
import type { View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { readAddress } from "./address.ts";
import { now } from "./clock.ts";
import { takeOver } from "./take-over.ts";

/** Typing in a field asks for a list once it pauses. */
const TYPING_MS = 150;

export interface LoadedPage<F> {
  /** Undefined before the first answer. */
  readonly facts: F | undefined;
  /**
   * Loads and draws. Where a newer request was made meanwhile, resolves when that one is drawn: who
   * waits for a load then acts on what the page shows. Never rejects: what cannot be read is part
   * of the facts.
   */
  load(): Promise<void>;
  /** Loads when typing has paused. */
  loadSoon(): void;
  /** Draws the same facts again, or others. */
  draw(facts?: F): void;
}

export interface LoadedPageDeps<F> {
  load(params: URLSearchParams, before: F | undefined): Promise<F>;
  view(facts: F, state: PageState): View;
  /** After each drawing with newly loaded facts. */
  loaded?(facts: F): void;
}

export function createLoadedPage<F>(deps: LoadedPageDeps<F>): LoadedPage<F> {
  const app = document.getElementById("app");
  if (app === null) throw new Error("the page has no #app");
  let facts: F | undefined;
  let request = 0;
  let newest: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const draw = (next = facts): void => {
    facts = next;
    if (next === undefined) return;
    const { params } = readAddress();
    const state = { params, nowMs: now(), zone: undefined, panel: undefined };
    const show = (): void => render(deps.view(next, state), app);
    if (document.documentElement.classList.contains("ready")) show();
    else takeOver([app], show);
  };
  const ask = async (): Promise<void> => {
    clearTimeout(timer);
    const mine = ++request;
    app.setAttribute("aria-busy", "true");
    const next = await deps.load(readAddress().params, facts);
    if (mine !== request) return await newest;
    app.removeAttribute("aria-busy");
    draw(next);
    deps.loaded?.(next);
  };
  const load = (): Promise<void> => (newest = ask());
  return {
    get facts() {
      return facts;
    },
    load,
    loadSoon() {
      clearTimeout(timer);
      timer = setTimeout(() => void load(), TYPING_MS);
    },
    draw,
  };
}

/** Whether what had the focus is not on the page any more. */
export function isFocusLost(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}
