/** The page `/events`: who changed what, newest first, with its filters in the address. */
import type { Event as EventRow, EventList } from "../../../src/gen/events-json.ts";
import { formatCount, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { linkWith, type PageState } from "../page-state.ts";
import { figures } from "../pieces/card.ts";
import { empty } from "../pieces/section.ts";
import { badge } from "../pieces/state.ts";
import { moment } from "../pieces/time.ts";
import { banner, problemBanner } from "../review/words.ts";
import { MAX_ROWS, type EventsFacts } from "./event-rows.ts";

/** The parameters that select events, in the address as in the API. */
export const EVENT_PARAMS = [
  "source",
  "severity",
  "type",
  "actor",
  "target",
  "action",
  "errors",
  "start",
  "end",
] as const;

const SOURCES = [
  [undefined, "Any source"],
  ["audit", "Audit"],
  ["webhook", "Webhook"],
] as const;
const SEVERITIES = [
  [undefined, "Any severity"],
  ["info", "Info"],
  ["warn", "Warning"],
] as const;
/** Fields of text, with what they look in. */
const FIELDS = [
  ["actor", "Actor"],
  ["action", "Action"],
  ["target", "Target"],
  ["type", "Exact type"],
] as const;

export function eventsPage(facts: EventsFacts, state: PageState): View {
  const { list, problem } = facts;
  return html`<div class=${facts.stale === true ? "stack events was" : "stack events"}>
    <h2>Events</h2>
    ${list === undefined ? undefined : storeFigures(list)}
    ${list === undefined ? undefined : overflow(list)}
    ${filters(state)}
    ${problem === undefined ? undefined : problemBanner("The events", problem)}
    ${list === undefined ? undefined : rowsView(facts, list, state)}
  </div>`;
}

function storeFigures({ stats, matched }: EventList): View {
  return html`<section class="card" aria-label="The store of events">${figures([
    { label: "Matching", value: formatCount(matched) },
    { label: "Stored", value: formatCount(stats.retained) },
    { label: "Capacity", value: formatCount(stats.capacity) },
    { label: "Recorded since the start", value: formatCount(stats.recorded) },
    {
      label: "Evicted",
      value:
        stats.evicted === 0
          ? "0"
          : html`<span class="evicted">${formatCount(stats.evicted)}</span>`,
    },
  ])}</section>`;
}

function overflow({ truncated, stats }: EventList): View | undefined {
  if (!truncated) return undefined;
  const dropped =
    stats.evicted === 0
      ? "The next event evicts the oldest."
      : `${formatSome(stats.evicted, "older entry was", "older entries were")} dropped and cannot be shown.`;
  return banner(
    "notice",
    html`<span><strong>The store is full.</strong> ${dropped} Raise <code>events.max_events</code> to keep more.</span>`,
  );
}

function filters(state: PageState): View {
  const { params } = state;
  const to = (changes: Readonly<Record<string, string | undefined>>): string =>
    linkWith(state, { ...changes, cursor: undefined });
  const choice = (
    name: string,
    label: string,
    values: readonly (readonly [string | undefined, string])[],
  ): View =>
    html`<nav class="segments" aria-label=${label}>${values.map(([value, title]) => html`<a data-stay href=${to({ [name]: value })} aria-current=${(params.get(name) || undefined) === value ? "true" : undefined}>${title}</a>`)}</nav>`;
  const isErrors = hasErrors(params);
  const isFiltered = EVENT_PARAMS.some((name) => (params.get(name) ?? "") !== "");
  return html`<div class="stack tight" role="search" aria-label="Filter events">
    <div class="tools review-tools">
      ${choice("source", "Source", SOURCES)}
      ${choice("severity", "Severity", SEVERITIES)}
      <nav class="segments" aria-label="Errors"><a data-stay href=${to({ errors: undefined })} aria-current=${isErrors ? undefined : "true"}>All</a><a data-stay href=${to({ errors: "1" })} aria-current=${isErrors ? "true" : undefined}>Errors only</a></nav>
      ${isFiltered ? html`<a data-stay href=${clearLink(state)}>Clear the filters</a>` : undefined}
    </div>
    <div class="tools review-tools scripted">${FIELDS.map(([name, label]) => html`<label class="filter"><span class="sr">${label}</span><input type="search" maxlength="128" data-param=${name} value=${params.get(name) ?? ""} placeholder=${label} autocomplete="off" spellcheck="false" /></label>`)}</div>
  </div>`;
}

function hasErrors(params: URLSearchParams): boolean {
  return !["", "0", "false"].includes((params.get("errors") ?? "").toLowerCase());
}

function clearLink(state: PageState): string {
  return linkWith(
    state,
    Object.fromEntries([...EVENT_PARAMS, "cursor"].map((name) => [name, undefined])),
  );
}

function rowsView({ rows, olderCursor }: EventsFacts, list: EventList, state: PageState): View {
  if (rows.length === 0) return nothing(list, state);
  const isFirst = (state.params.get("cursor") ?? "") === "";
  return html`<div class="table">
    <span class="count" role="status">${formatCount(rows.length)} of ${formatSome(list.matched, "matching event")}${isFirst ? "" : ", from an older page"}</span>
    ${isFirst ? undefined : html`<p class="note"><a data-stay href=${linkWith(state, { cursor: undefined })}>Go to the newest events</a></p>`}
    <div class="scroll"><table aria-label="events">
      <thead><tr>${["Event", "Time", "Actor", "Target", "Result", "Details"].map((title) => html`<th scope="col">${title}</th>`)}</tr></thead>
      <tbody>${rows.map((row) => eventRow(row, state))}</tbody></table></div>
    ${older(rows.length, olderCursor, state)}
  </div>`;
}

function older(shown: number, cursor: string | undefined, state: PageState): View | undefined {
  if (cursor === undefined) return undefined;
  if (shown >= MAX_ROWS)
    return html`<p class="note">The newest ${formatCount(shown)} are shown: narrow the filters to see older ones.</p>`;
  return html`<nav class="paging" aria-label="Older events"><a class="button" data-older href=${linkWith(state, { cursor })} rel="next">Load older events</a></nav>`;
}

function eventRow(event: EventRow, state: PageState): View {
  const { action, type, source, network, origin } = event;
  const isSame = type === undefined || type === action;
  const about = [source, isSame ? undefined : type, network, origin].filter(
    (word) => word !== undefined,
  );
  return html`<tr key=${event.seq}>
    <td data-label="Event"><strong>${action ?? type ?? "–"}</strong><small>${about.join(" · ")}</small></td>
    <td data-label="Time">${moment(event.time, state)}</td>
    <td data-label="Actor">${party(event.actor_name, event.actor_id, event.actor_type)}</td>
    <td data-label="Target">${party(event.target_name, event.target_id, [event.target_type, event.target_property].filter((word) => word !== undefined).join(" · "))}</td>
    <td data-label="Result">${result(event)}</td>
    <td data-label="Details">${details(event)}</td>
  </tr>`;
}

function party(name: string | undefined, id: string | undefined, kind: string | undefined): Child {
  const shown = name ?? id;
  if (shown === undefined) return kind === undefined || kind === "" ? "–" : kind;
  return html`<span class="long" title=${id}>${shown}${kind === undefined || kind === "" ? undefined : html`<small>${kind}</small>`}</span>`;
}

function result({ severity, error }: EventRow): View {
  return html`<span>${severity === "warn" ? badge("notice", "warning") : badge("unknown", severity)}${error === undefined ? undefined : html`<span class="error">${error}</span>`}</span>`;
}

function details({ summary, details: text, truncated }: EventRow): Child {
  if (text === undefined && summary === undefined) return "–";
  const note = truncated === true ? html`<p class="note">Cut at 4096 bytes.</p>` : undefined;
  if (text === undefined || text === summary) return html`<span>${summary ?? text}${note}</span>`;
  return html`<details><summary>${summary ?? "Show"}</summary><pre class="change" tabindex="0" aria-label="Details of the event">${text}</pre>${note}</details>`;
}

function nothing(list: EventList, state: PageState): View {
  if (list.filters !== undefined || list.retained > 0)
    return empty(
      html`<span>None of the ${formatCount(list.retained)} stored events matches. <a data-stay href=${clearLink(state)}>Show all</a></span>`,
    );
  return empty(
    html`<span>No event was recorded since the start. Configuration changes come here once a network's audit log is collected (<code>collectors.auditlogs</code>), and webhook events once <code>webhook.enabled</code> is set; a restart forgets them.</span>`,
  );
}
