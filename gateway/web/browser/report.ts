/**
 * The island of the report of `steward dedup`, which is one file: filters that the address holds,
 * and the keys of the review pages as far as they make sense without a server.
 */
import { startDialogs } from "./dialogs.ts";
import { GROUP_KEYS } from "./group-keys.ts";
import { areKeysOn, switchKeys, watchKeys } from "./review-keys.ts";
import { startTheme } from "./theme.ts";

/** A group as it stands on the page. */
interface ShownGroup {
  readonly element: HTMLElement;
  /** What the search looks in, in lower case. */
  readonly text: string;
  readonly kind: string;
}

const groups: readonly ShownGroup[] = Array.from(
  document.querySelectorAll<HTMLElement>("[data-group]"),
  (element) => ({
    element,
    text: (element.querySelector(".facts")?.textContent ?? "").toLowerCase(),
    kind: element.dataset["kind"] ?? "",
  }),
);
const search = document.querySelector<HTMLInputElement>("[data-search]");
const kinds = Array.from(document.querySelectorAll<HTMLButtonElement>("[data-kind-filter]"));
const count = document.querySelector("[data-count]");
const nothing = document.querySelector<HTMLElement>("[data-nothing]");
let visible: readonly HTMLElement[] = [];
let selected: HTMLElement | undefined;
let kind = "";

function start(): void {
  startTheme();
  startDialogs({});
  const address = new URLSearchParams(location.hash.slice(1));
  if (search !== null) search.value = address.get("q") ?? "";
  kind = kinds.some((each) => each.value === address.get("kind"))
    ? (address.get("kind") ?? "")
    : "";
  search?.addEventListener("input", filter);
  for (const each of kinds)
    each.addEventListener("click", () => {
      kind = each.value;
      filter();
    });
  document.querySelector("[data-show-all]")?.addEventListener("click", () => {
    if (search !== null) search.value = "";
    kind = "";
    filter();
  });
  document.addEventListener("focusin", ({ target }) => {
    const group = target instanceof Element ? target.closest<HTMLElement>("[data-group]") : null;
    if (group !== null) select(group);
  });
  startKeys();
  filter();
  document.documentElement.classList.add("ready");
}

function filter(): void {
  const words = (search?.value ?? "")
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const shown: HTMLElement[] = [];
  for (const { element, text, kind: own } of groups) {
    const matches = (kind === "" || kind === own) && words.every((word) => text.includes(word));
    element.hidden = !matches;
    if (matches) shown.push(element);
  }
  visible = shown;
  for (const each of kinds) each.setAttribute("aria-pressed", String(each.value === kind));
  if (count !== null)
    count.textContent =
      shown.length === groups.length
        ? `${groups.length} groups`
        : `${shown.length} of ${groups.length} groups`;
  if (nothing !== null) nothing.hidden = shown.length > 0 || groups.length === 0;
  remember();
}

function remember(): void {
  const params = new URLSearchParams();
  if (search !== null && search.value !== "") params.set("q", search.value);
  if (kind !== "") params.set("kind", kind);
  const hash = params.toString();
  try {
    history.replaceState(null, "", hash === "" ? location.pathname : `#${hash}`);
  } catch {
    // Where a file has no history the address stays as it is.
  }
}

function startKeys(): void {
  watchKeys(GROUP_KEYS, (action) => {
    if (action === "next" || action === "previous") move(action === "next" ? 1 : -1);
    else if (action === "open") toggle();
    else if (action === "search") search?.focus();
    else if (action === "help")
      document.querySelector<HTMLDialogElement>("#dialog-keys")?.showModal();
    else if (action === "close" && document.activeElement === search) search?.blur();
  });
  const button = document.querySelector<HTMLButtonElement>("[data-keys]");
  const name = (): void => {
    if (button !== null)
      button.textContent = areKeysOn() ? "Switch single keys off" : "Switch single keys on";
  };
  button?.addEventListener("click", () => {
    switchKeys(!areKeysOn());
    name();
  });
  name();
}

function move(by: number): void {
  const at = selected === undefined ? -1 : visible.indexOf(selected);
  const next = at < 0 ? visible[0] : visible[at + by];
  if (next === undefined) return;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "start" });
}

function select(group: HTMLElement): void {
  selected?.classList.remove("selected");
  selected = group;
  group.classList.add("selected");
}

/** Opens all differences of the selected group, or closes them. */
function toggle(): void {
  const differences = Array.from(selected?.querySelectorAll("details") ?? []);
  const open = !differences.every((each) => each.open);
  for (const each of differences) each.open = open;
}

start();
