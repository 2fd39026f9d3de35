/** How old the page is, and its stopping and starting. */
import { formatAge, formatSeconds } from "../format.ts";
import { html, type View } from "../html.ts";
import { stateIcon } from "../pieces/state.ts";
import type { Polling } from "./poller.ts";

/** The foot: the age of what is shown, pause, refresh, the JSON. */
export function liveBar(
  polling: Polling,
  shownAtMs: number,
  nowMs: number,
  jsonPath = "/api/status.json",
): View {
  return html`<div class="live"><span>As of ${formatAge(shownAtMs, nowMs)}${polling.paused ? ", paused" : ""}</span>
    <button type="button" data-live=${polling.paused ? "resume" : "pause"}>${polling.paused ? "Resume" : "Pause"}</button>
    <button type="button" data-live="refresh" aria-disabled=${polling.asking ? "true" : undefined}>Refresh now</button>
    <a href=${jsonPath}>JSON</a></div>`;
}

/** A status older than this is not shown as what is so now. */
export const STALE_MS = 60_000;

/** The notice above a page whose figures are stale; nothing while they are fresh. */
export function staleBanner(
  { problem, nextAtMs, paused }: Polling,
  shownAtMs: number,
  nowMs: number,
): View | null {
  if (problem === undefined)
    return paused && nowMs - shownAtMs >= STALE_MS ? oldBanner(shownAtMs, nowMs) : null;
  const next =
    nextAtMs === undefined ? "" : ` Trying again in ${formatSeconds((nextAtMs - nowMs) / 1000)}.`;
  return html`<p class="stale">${stateIcon("bad")}<span><strong>These figures are from ${formatAge(shownAtMs, nowMs)}.</strong> ${problem}${next}</span></p>`;
}

function oldBanner(shownAtMs: number, nowMs: number): View {
  return html`<p class="stale paused">${stateIcon("notice")}<span><strong>These figures are from ${formatAge(shownAtMs, nowMs)}.</strong> Refreshing is paused: choose Resume below.</span></p>`;
}
