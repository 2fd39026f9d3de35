/**
 * The keys of a review. Single keys act only outside fields and dialogs and without a modifier, and
 * can be switched off (WCAG 2.2, success criterion 2.1.4).
 */

/** What a key does. */
export type KeyAction =
  | "next"
  | "previous"
  | "open"
  | "accept"
  | "reject"
  | "ignore"
  | "primary"
  | "reopen"
  | "undo"
  | "search"
  | "close"
  | "help"
  | "next-document"
  | "previous-document";

const KEYS: Readonly<Record<string, KeyAction>> = {
  j: "next",
  k: "previous",
  Enter: "open",
  a: "accept",
  x: "reject",
  i: "ignore",
  p: "primary",
  r: "reopen",
  u: "undo",
  "/": "search",
  "?": "help",
  Escape: "close",
  ArrowRight: "next-document",
  ArrowLeft: "previous-document",
};
const STORED = "steward.keys";

export function watchKeys(act: (action: KeyAction) => void): void {
  document.addEventListener("keydown", (event) => {
    const action = KEYS[event.key];
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.defaultPrevented || isElsewhere(event, action)) return;
    if (!areKeysOn() && action !== "close") return;
    event.preventDefault();
    act(action);
  });
}

/** Whether the key belongs to a field, a dialog, or the link or button that has the focus. */
function isElsewhere({ target }: KeyboardEvent, action: KeyAction): boolean {
  if (document.querySelector("dialog[open]") !== null) return true;
  if (!(target instanceof Element)) return false;
  if (target.closest("input, textarea, select, [contenteditable]") !== null)
    return action !== "close";
  return action === "open" && target.closest("a, button, summary") !== null;
}

export function areKeysOn(): boolean {
  try {
    return localStorage.getItem(STORED) !== "off";
  } catch {
    return true;
  }
}

export function switchKeys(on: boolean): void {
  try {
    if (on) localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, "off");
  } catch {
    // Without storage they stay on.
  }
}
