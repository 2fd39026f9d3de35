/**
 * Short notices at the foot of the page, said by screen readers too; one with a way back stays
 * longer.
 */

/** How long one is read, in milliseconds. */
const STAY_MS = 6_000;
const STAY_WITH_ACTION_MS = 12_000;
/** Older ones make room. */
const MAX_TOASTS = 3;

/** A way back. */
export interface ToastAction {
  readonly label: string;
  run(): void;
}

/** Shows a notice. */
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
