/** What changed in the last 24 hours: devices, documents, and the newest events. */
import type { Event as EventRow } from "../../../src/gen/events-json.ts";
import { formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { part } from "../pieces/section.ts";
import { stateIcon } from "../pieces/state.ts";
import { moment } from "../pieces/time.ts";
import type { DayFacts, Moved, Trend } from "./day.ts";
import type { LandingFacts } from "./process-summary.ts";
import { sinceYesterday } from "./trend.ts";

export function changes({ day, stale }: LandingFacts, state: PageState): View {
  return part(
    "Since yesterday",
    day === undefined
      ? html`<p class="empty">Not known: the last day could not be read.</p>`
      : listed(day, stale === true, state),
  );
}

function listed(day: DayFacts, stale: boolean, state: PageState): View {
  const lines: Child[] = [
    ...movedLine(day.came, "device joined", "devices joined"),
    ...movedLine(day.left, "device left", "devices left"),
    ...countLine(day.documents, "document", "/documents"),
    ...countLine(day.groups, "group of near-duplicates", "/duplicates"),
    ...(day.events ?? []).map((event) => eventLine(event, stale, state)),
  ];
  if (lines.length === 0) return html`<p class="empty">Nothing was seen to change.</p>`;
  return html`<div class="stack tight"><ul class="lines">${lines}</ul>${(day.events ?? []).length === 0 ? undefined : html`<p class="note"><a href="/events">All events</a></p>`}</div>`;
}

function movedLine({ count, names }: Moved, one: string, many: string): Child[] {
  if (count === 0) return [];
  const more = count - names.length;
  return [
    html`<li>${stateIcon("unknown")}<span><a href="/devices">${formatSome(count, one, many)}</a>: ${names.join(", ")}${more > 0 ? ` and ${formatSome(more, "other")}` : ""}.</span></li>`,
  ];
}

function countLine(trend: Trend | undefined, one: string, href: string): Child[] {
  const [now, before] = [trend?.points.at(-1), trend?.yesterday];
  if (trend === undefined || now === undefined || before === undefined || now === before) return [];
  const word = sinceYesterday(trend)?.replace(/^\S+ /, "") ?? "";
  return [
    html`<li>${stateIcon("unknown")}<span><a href=${href}>${formatSome(Math.abs(now - before), one, one.replace(/^\w+/, "$&s"))}</a> ${word}.</span></li>`,
  ];
}

function eventLine(
  { time, severity, error, summary, action, actor_name: actor, target_name: target }: EventRow,
  stale: boolean,
  state: PageState,
): Child {
  const look = stale || (severity !== "warn" && (error ?? "") === "") ? "unknown" : "notice";
  const what = (summary ?? "") === "" ? [action, target].filter(Boolean).join(" ") : summary;
  return html`<li>${stateIcon(look)}<span>${what}${(actor ?? "") === "" ? undefined : `, by ${actor}`} <small class="muted">${moment(time, state)}</small></span></li>`;
}
