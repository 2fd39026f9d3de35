/**
 * Keeps a page's choices in the address: links and filters change it, and the page is rendered
 * again without being loaded.
 */

export interface Address {
  readonly params: URLSearchParams;
  /** After the hash, as written there; empty without one. */
  readonly fragment: string;
}

export function readAddress(): Address {
  return { params: new URLSearchParams(location.search), fragment: location.hash.slice(1) };
}

/**
 * Handles links and buttons with `data-stay`, links with `data-tab`, fields with `data-param`, and
 * the browser's back and forward; calls `changed` after each. With `data-step` as well, the back key
 * returns from what a link opened.
 */
export function watchAddress(changed: () => void): void {
  document.addEventListener("click", (event) => {
    const link =
      event.target instanceof Element
        ? event.target.closest<HTMLElement>("a[data-stay], a[data-tab], button[data-stay]")
        : null;
    if (
      link === null ||
      event.button !== 0 ||
      event.ctrlKey ||
      event.metaKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    event.preventDefault();
    const to = new URL(
      link instanceof HTMLAnchorElement ? link.href : (link.dataset["href"] ?? ""),
      location.href,
    );
    // A tab keeps the other choices; a choice makes no history entry unless it is a step.
    const address = `${to.pathname}${to.search}${to.hash}`;
    if (link.dataset["step"] !== undefined) history.pushState(null, "", address);
    else if (link.dataset["tab"] === undefined) history.replaceState(null, "", address);
    else if (to.hash !== location.hash)
      history.pushState(null, "", `${location.pathname}${location.search}${to.hash}`);
    changed();
    // A link from elsewhere on the page opens a panel that may be out of sight.
    if (link.dataset["tab"] !== undefined && link.closest('[role="tablist"]') === null)
      document.getElementById(link.dataset["tab"])?.scrollIntoView();
  });
  document.addEventListener("input", (event) => {
    if (!(event.target instanceof HTMLInputElement)) return;
    const name = event.target.dataset["param"];
    if (name === undefined) return;
    const url = new URL(location.href);
    if (event.target.value === "") url.searchParams.delete(name);
    else url.searchParams.set(name, event.target.value);
    // Another filter begins at the first rows.
    url.searchParams.delete("cursor");
    for (const choice of ["rows", "offset"]) {
      const paged: string = name.replace(/(^|\.)q$/, `$1${choice}`);
      if (paged !== name) url.searchParams.delete(paged);
    }
    history.replaceState(null, "", url);
    changed();
  });
  addEventListener("popstate", changed);
  addEventListener("hashchange", changed);
}
