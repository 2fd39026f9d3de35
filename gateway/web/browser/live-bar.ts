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

/**
 * The notice above a page whose figures are stale; empty while they are fresh. Its sentence is a
 * live region, which has to be there before it is filled, and changes only with the state: ages and
 * waits, which change each second, are beside it.
 */
export function staleBanner(
  { problem, nextAtMs, paused }: Polling,
  shownAtMs: number,
  nowMs: number,
): View {
  const isPaused = problem === undefined && paused && nowMs - shownAtMs >= STALE_MS;
  const reason = isPaused ? "Refreshing is paused: choose Resume below." : problem;
  const next =
    problem === undefined || nextAtMs === undefined
      ? ""
      : ` Trying again in ${formatSeconds((nextAtMs - nowMs) / 1000)}.`;
  const isStale = reason !== undefined;
  return html`<section aria-label=${isStale ? "Age of the figures" : undefined} class=${isStale ? `stale${isPaused ? " paused" : ""}` : undefined}>
    ${isStale ? stateIcon(isPaused ? "notice" : "bad") : undefined}
    <span><span role="status">${isStale ? html`<strong>These figures are not current.</strong> ${reason}` : undefined}</span>${isStale ? ` They are from ${formatAge(shownAtMs, nowMs)}.${next}` : undefined}</span>
  </section>`;
}
