/**
 * The keyboard of tabs (WAI-ARIA tabs pattern): arrows go round and open, Home and End go to the
 * ends.
 */

/** Heeds every tablist of the page, also those drawn later. */
export function startTabs(): void {
  document.addEventListener("keydown", (event) => {
    const tab =
      event.target instanceof Element ? event.target.closest<HTMLElement>('[role="tab"]') : null;
    const list = tab?.closest('[role="tablist"]');
    if (tab === null || list === null || list === undefined) return;
    const all = [...list.querySelectorAll<HTMLElement>('[role="tab"]')];
    const at = all.indexOf(tab);
    const to: Readonly<Record<string, number>> = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1 + all.length,
      Home: 0,
      End: all.length - 1,
      " ": at,
    };
    const next = all[(to[event.key] ?? Number.NaN) % all.length];
    if (next === undefined) return;
    event.preventDefault();
    next.click();
    next.focus();
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}

/**
 * Scrolls the row of tabs, and nothing else, so that a tab is in sight: a phone shows four of
 * seven.
 */
export function showTab(panel: string): void {
  const tab = document.getElementById(`tab-${panel}`);
  const row = tab?.closest<HTMLElement>(".tab-row");
  if (tab === null || row === null || row === undefined) return;
  const [left, right] = [tab.offsetLeft, tab.offsetLeft + tab.offsetWidth];
  if (left < row.scrollLeft || right > row.scrollLeft + row.clientWidth)
    row.scrollLeft = Math.max(0, (left + right - row.clientWidth) / 2);
}
