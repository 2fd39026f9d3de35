/**
 * Buttons that act by their `data-act`. The second click of a double-click and a held Enter do
 * nothing: by then the button may stand for the next item, which nobody has seen.
 */
export function watchButtons(
  buttons: Readonly<Record<string, (button: HTMLElement) => void>>,
): void {
  document.addEventListener("click", (event) => {
    const button = buttonOf(event);
    if (button !== null && event.detail < 2) buttons[button.dataset["act"] ?? ""]?.(button);
  });
  document.addEventListener("keydown", (event) => {
    if (event.repeat && event.key === "Enter" && buttonOf(event) !== null) event.preventDefault();
  });
}

function buttonOf({ target }: Event): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>("[data-act]") : null;
}
