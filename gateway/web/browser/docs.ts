/** The island of the API reference: its search, and the address of this page in the examples. */
import { startTheme } from "./theme.ts";

const PARAM = "q";
const field = document.querySelector<HTMLInputElement>("[data-search]");
const count = document.querySelector<HTMLElement>("[data-search-count]");
const none = document.querySelector<HTMLElement>("[data-search-none]");
const groups = [...document.querySelectorAll<HTMLElement>("section.group")];
const operations = [...document.querySelectorAll<HTMLElement>("section.operation")].map(
  (section) => ({
    section,
    text: section.textContent.toLowerCase(),
    link: document.querySelector<HTMLElement>(`[data-for="${section.id}"]`),
  }),
);

/** Shows the operations that hold every word, in any case. */
function search(query: string): void {
  const words = query
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  let shown = 0;
  for (const { section, text, link } of operations) {
    section.hidden = !words.every(
      (word) => text.includes(word) || section.id.toLowerCase().includes(word),
    );
    if (link !== null) link.hidden = section.hidden;
    if (!section.hidden) shown += 1;
  }
  for (const group of groups)
    group.hidden = group.querySelector("section.operation:not([hidden])") === null;
  if (none !== null) none.hidden = shown > 0;
  if (count !== null)
    count.textContent =
      words.length === 0 ? `${shown} operations` : `${shown} of ${operations.length} operations`;
}

function remember(query: string): void {
  const url = new URL(location.href);
  if (query === "") url.searchParams.delete(PARAM);
  else url.searchParams.set(PARAM, query);
  history.replaceState(null, "", url);
}

/** A link to an operation that the search hides ends the search. */
function reveal(): void {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target === null || field === null || target.closest("[hidden]") === null) return;
  field.value = "";
  remember("");
  search("");
  target.scrollIntoView();
}

for (const each of document.querySelectorAll("[data-origin]")) each.textContent = location.origin;
if (field !== null) {
  field.value = new URLSearchParams(location.search).get(PARAM) ?? "";
  if (field.value !== "") search(field.value);
  field.addEventListener("input", () => {
    remember(field.value);
    search(field.value);
  });
}
addEventListener("hashchange", reveal);
reveal();
startTheme();
document.documentElement.classList.add("ready");
