/**
 * The page `/`: is all well, what needs the reader, what changed. One view of the status, the process
 * summary and the last day, rendered by the server, then by the browser at each new status.
 */
import { html, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { changes } from "./changes.ts";
import { cards } from "./cards.ts";
import { healthLine, processLine, updateBadge } from "./head.ts";
import { needs } from "./needs.ts";
import type { LandingFacts } from "./process-summary.ts";

export function landing(facts: LandingFacts, state: PageState): View {
  const { status, stale } = facts;
  return html`<div class=${stale === true ? "stack was" : "stack"}>
    <div class="row">${status === undefined ? processLine(facts) : healthLine(status, facts)}${status === undefined ? undefined : updateBadge(status)}</div>
    ${cards(facts, state)}
    <div class="pair">${needs(facts, state)}${changes(facts, state)}</div>
  </div>`;
}
