/**
 * The keys of a review. Single keys act only outside fields and dialogs and without a modifier, and
 * can be switched off (WCAG 2.2, success criterion 2.1.4).
 */

const STORED = "steward.keys";

/** Actions that every page with keys has. */
type CommonAction = "open" | "close";

/** Actions that a held key repeats; another one acts once, on what was shown when it was pressed. */
const MOVES: ReadonlySet<string> = new Set([
  "next",
  "previous",
  "next-document",
  "previous-document",
]);

/** Calls `act` with what `keys` give a key. `close` works with the keys off, too. */
export function watchKeys<A extends string>(
  keys: Readonly<Record<string, A | CommonAction>>,
  act: (action: A | CommonAction) => void,
): void {
  document.addEventListener("keydown", (event) => {
    const action = keys[event.key];
    if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.defaultPrevented || isElsewhere(event, action)) return;
    if (!areKeysOn() && action !== "close") return;
    event.preventDefault();
    if (!event.repeat || MOVES.has(action)) act(action);
  });
}

/** Whether the key belongs to a field, a dialog, or the link or button that has the focus. */
function isElsewhere({ target }: KeyboardEvent, action: string): boolean {
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
