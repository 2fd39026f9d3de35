/**
 * The first drawing of an island, in place of what the server wrote. A page can be typed into
 * before, and letters outside fields are keys.
 */

const TYPED: ReadonlySet<string> = new Set(["text", "search", "number"]);
const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";

/**
 * Empties the regions, marks the page as ready and draws. What was focused in them is focused again
 * as far as it is drawn, with its selection and with what was typed into it.
 */
export function takeOver(regions: readonly HTMLElement[], draw: () => void): void {
  const restore = keepFocus(regions);
  for (const region of regions) region.replaceChildren();
  document.documentElement.classList.add("ready");
  draw();
  restore();
}

function keepFocus(regions: readonly HTMLElement[]): () => void {
  const { activeElement: before } = document;
  const region = regions.find((each) => each.contains(before));
  if (region === undefined || before === null || nameOf(before) === "") return () => undefined;
  const same = (): Element[] =>
    [...region.querySelectorAll(FOCUSABLE)].filter((each) => nameOf(each) === nameOf(before));
  const index = same().indexOf(before);
  return () => {
    const after = same()[index];
    if (!(after instanceof HTMLElement)) return;
    after.focus({ preventScroll: true });
    if (before instanceof HTMLInputElement && after instanceof HTMLInputElement)
      keepText(before, after);
  };
}

/** The same before and after: a link in the page of the server may be a button in the browser's. */
function nameOf(element: Element): string {
  const address = element.getAttribute("href") ?? element.getAttribute("data-href");
  return (
    element.id ||
    element.getAttribute("name") ||
    element.getAttribute("data-param") ||
    element.getAttribute("data-field") ||
    address ||
    ""
  );
}

function keepText(before: HTMLInputElement, after: HTMLInputElement): void {
  if (!TYPED.has(before.type)) return;
  const { selectionStart, selectionEnd } = before;
  const isTyped = after.value !== before.value;
  after.value = before.value;
  // Fields for numbers have no selection.
  if (selectionStart !== null) after.setSelectionRange(selectionStart, selectionEnd);
  // What was typed before a script listened counts now.
  if (isTyped) after.dispatchEvent(new Event("input", { bubbles: true }));
}
