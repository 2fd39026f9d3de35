/** The switch of the colours: as the system has them, light, dark; remembered in this browser. */

const CHOICES = ["system", "light", "dark"] as const;
const NAMES: Readonly<Record<Choice, string>> = { system: "System", light: "Light", dark: "Dark" };
const KEY = "steward.theme";
type Choice = (typeof CHOICES)[number];

/** Gives life to the switch of the page's bar, where there is one. */
export function startTheme(): void {
  const button = document.querySelector<HTMLButtonElement>("[data-theme-switch]");
  if (button === null) return;
  show(button, current());
  button.addEventListener("click", () => {
    const next = CHOICES[(CHOICES.indexOf(current()) + 1) % CHOICES.length] ?? "system";
    if (next === "system") delete document.documentElement.dataset["theme"];
    else document.documentElement.dataset["theme"] = next;
    remember(next);
    show(button, next);
  });
}

function current(): Choice {
  const theme = document.documentElement.dataset["theme"];
  return theme === "light" || theme === "dark" ? theme : "system";
}

function show(button: HTMLButtonElement, choice: Choice): void {
  button.setAttribute("aria-label", `Colours: ${NAMES[choice]}`);
  const name = button.querySelector("[data-theme-name]");
  if (name !== null) name.textContent = NAMES[choice];
}

function remember(choice: Choice): void {
  try {
    if (choice === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, choice);
  } catch {
    // It then holds until the page is left.
  }
}
