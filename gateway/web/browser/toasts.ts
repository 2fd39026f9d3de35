/**
 * Short notices at the foot of the page, announced by screen readers; one with an undo action stays
 * longer.
 */

/** Display time in milliseconds. */
const STAY_MS = 6_000;
const STAY_WITH_ACTION_MS = 12_000;
/** Older ones are removed. */
const MAX_TOASTS = 3;

/** An undo action. */
export interface ToastAction {
  readonly label: string;
  run(): void;
}

export function toast(text: string, action?: ToastAction): void {
  const container = document.getElementById("toasts");
  if (container === null) return;
  const box = document.createElement("div");
  box.className = "toast";
  const words = document.createElement("span");
  words.textContent = text;
  box.append(words);
  if (action !== undefined) box.append(buttonFor(action, box));
  container.append(box);
  while (container.childElementCount > MAX_TOASTS) container.firstElementChild?.remove();
  setTimeout(() => box.remove(), action === undefined ? STAY_MS : STAY_WITH_ACTION_MS);
}

function buttonFor(action: ToastAction, box: HTMLElement): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = action.label;
  button.addEventListener("click", () => {
    box.remove();
    action.run();
  });
  return button;
}
