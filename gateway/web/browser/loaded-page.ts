/**
 * A page that is loaded from the API and drawn again for each change of its address. Answers that
 * come after a newer request was made are dropped.
 */
import { render } from "preact";
import type { View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { readAddress } from "./address.ts";
import { now } from "./clock.ts";

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
    if (facts === undefined) return;
    let restore: (() => void) | undefined;
    if (!document.documentElement.classList.contains("ready")) {
      restore = keepField(app);
      app.replaceChildren();
      document.documentElement.classList.add("ready");
    }
    const { params } = readAddress();
    render(deps.view(facts, { params, nowMs: now(), zone: undefined, panel: undefined }), app);
    restore?.();
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

/**
 * Keeps the field that the reader is in, with its text, while the server's elements are replaced: a
 * page can be typed into before its island has drawn it, and letters outside fields are keys.
 */
function keepField(app: HTMLElement): () => void {
  const field = document.activeElement;
  if (!isField(field) || !app.contains(field)) return () => undefined;
  const name = nameOf(field);
  const [value, from, to] = isTyped(field)
    ? [field.value, field.selectionStart, field.selectionEnd]
    : [];
  return () => {
    const next = Array.from(app.querySelectorAll("input, select")).find(
      (each) => nameOf(each) === name,
    );
    if (!isField(next)) return;
    next.focus({ preventScroll: true });
    if (value === undefined || !isTyped(next)) return;
    const isOther = next.value !== value;
    next.value = value;
    // Fields for numbers have no selection.
    if (typeof from === "number") next.setSelectionRange(from, to ?? from);
    if (isOther) next.dispatchEvent(new Event("input", { bubbles: true }));
  };
}

type Field = HTMLInputElement | HTMLSelectElement;

function isField(element: Element | null | undefined): element is Field {
  return element instanceof HTMLInputElement || element instanceof HTMLSelectElement;
}

function isTyped(field: Field): field is HTMLInputElement {
  return ["text", "search", "number"].includes(field.type);
}

function nameOf(field: Element): string {
  return ["id", "name", "data-param", "data-field"].map((name) => field.getAttribute(name)).join();
}
