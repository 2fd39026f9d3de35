/** How old the page is, and its stopping and starting. */
import { formatAge, formatSeconds } from "../format.ts";
import { html, type View } from "../html.ts";
import { stateIcon } from "../pieces/state.ts";
import type { Polling } from "./poller.ts";

/** The foot: the age of what is shown, pause, refresh, the JSON. */
export function liveBar(polling: Polling, shownAtMs: number, nowMs: number): View {
  return html`<div class="live"><span>As of ${formatAge(shownAtMs, nowMs)}${polling.paused ? ", paused" : ""}</span>
    <button type="button" data-live=${polling.paused ? "resume" : "pause"}>${polling.paused ? "Resume" : "Pause"}</button>
    <button type="button" data-live="refresh" aria-disabled=${polling.asking ? "true" : undefined}>Refresh now</button>
    <a href="/api/status.json">JSON</a></div>`;
}

/** What stands above a page whose figures are no longer new; nothing while they are. */
export function staleBanner({ problem, nextAtMs }: Polling, shownAtMs: number, nowMs: number): View | null {
  if (problem === undefined) return null;
  const next = nextAtMs === undefined ? "" : ` Trying again in ${formatSeconds((nextAtMs - nowMs) / 1000)}.`;
  return html`<p class="stale">${stateIcon("bad")}<span><strong>These figures are from ${formatAge(shownAtMs, nowMs)}.</strong> ${problem}${next}</span></p>`;
}
