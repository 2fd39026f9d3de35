/** The page `/flows`: who talks to whom, with window, network and filters in the address. */
import type { FlowReport } from "../../../src/gen/flows-json.ts";
import { formatBytes, formatCount, formatMoment } from "../format.ts";
import { html, type View } from "../html.ts";
import { linkWith, type PageState } from "../page-state.ts";
import { figures } from "../pieces/card.ts";
import { timeSeries } from "../pieces/chart.ts";
import { empty, part } from "../pieces/section.ts";
import { moment } from "../pieces/time.ts";
import { banner, problemBanner } from "../review/words.ts";
import { connections } from "./connections.ts";
import type { FlowFacts } from "./flow-facts.ts";
import { matrices } from "./matrix.ts";
import { policyParts } from "./policy.ts";
import { bytesOf, rankings } from "./rankings.ts";
import { topology } from "./topology.ts";

type Window = readonly [value: string, title: string];

/** Windows to choose from; without a choice the API takes an hour. */
const WINDOWS: readonly Window[] = [
  ["15m", "15 minutes"],
  ["1h", "1 hour"],
  ["6h", "6 hours"],
  ["24h", "24 hours"],
];
/** Further ones, where flows are stored for as long. */
const LONG_WINDOWS: readonly Window[] = [
  ["168h", "7 days"],
  ["720h", "30 days"],
];
const DEFAULT_WINDOW = "1h";

export function flowsPage(facts: FlowFacts, state: PageState): View {
  const { report, problem } = facts;
  return html`<div class=${facts.stale === true ? "stack flows events was" : "stack flows events"}>
    <h2>Flows</h2>
    ${choices(report, state)}
    ${problem === undefined ? undefined : problemBanner("The flows", problem)}
    ${report === undefined ? undefined : body(facts, report, state)}
  </div>`;
}

function choices(report: FlowReport | undefined, state: PageState): View {
  const { params } = state;
  const link = (changes: Readonly<Record<string, string | undefined>>): string =>
    linkWith(state, { ...changes, cursor: undefined });
  const window = params.get("window") || DEFAULT_WINDOW;
  const networks = report?.networks ?? [];
  return html`<div class="tools review-tools">
    <nav class="segments" aria-label="Window">${windowsOf(report).map(([value, title]) => html`<a data-stay href=${link({ window: value === DEFAULT_WINDOW ? undefined : value })} aria-current=${value === window ? "true" : undefined}>${title}</a>`)}</nav>
    ${networks.length < 2 ? undefined : html`<nav class="segments" aria-label="Network">${[undefined, ...networks].map((name) => html`<a data-stay href=${link({ network: name })} aria-current=${(params.get("network") || undefined) === name ? "true" : undefined}>${name ?? "All networks"}</a>`)}</nav>`}
  </div>`;
}

function windowsOf(report: FlowReport | undefined): readonly Window[] {
  const storedMs = durationMs(report?.retention ?? "");
  return [...WINDOWS, ...LONG_WINDOWS.filter(([value]) => durationMs(value) <= storedMs)];
}

function body(facts: FlowFacts, report: FlowReport, state: PageState): View {
  const { result } = report;
  if (result.totals.flows === 0)
    return html`<div class="stack">${empty(
      report.stats.observations === 0 && report.recent_retained === 0
        ? html`<span>No traffic was recorded ${onDisk(report) ? "yet" : "since the start"}. Flow logs come here once a network's are collected (<code>collectors.flowlogs</code>) or streamed (<code>streaming.enabled</code>)${onDisk(report) ? "" : html`; a restart forgets them, unless <code>flows.store.directory</code> keeps them`}.</span>`
        : html`<span>No traffic within this window. Choose a longer one.</span>`,
    )}</div>`;
  return html`<div class="stack">
    ${unhealthy(report)}
    ${totals(report, state)}
    ${timeline(report, state)}
    ${merged(report)}
    ${policyParts(report)}
    ${topology(report)}
    <div class="halves">${rankings(report, state)}</div>
    ${matrices(report)}
    ${connections(facts, report, state)}
  </div>`;
}

function onDisk({ stats }: FlowReport): boolean {
  return stats.backend?.kind === "lmdb";
}

function unhealthy({ stats: { backend } }: FlowReport): View | undefined {
  return backend?.error === undefined
    ? undefined
    : banner(
        "bad",
        html`<span><strong>New traffic is not stored.</strong> ${backend.error}</span>`,
      );
}

function totals(report: FlowReport, state: PageState): View {
  const { result, stats } = report;
  const { totals: sums } = result;
  return html`<section class="card" aria-label="The window">${figures([
    { label: "Traffic", value: formatBytes(bytesOf(sums)) },
    { label: "Sent", value: formatBytes(sums.tx_bytes) },
    { label: "Received", value: formatBytes(sums.rx_bytes) },
    { label: "Connections", value: formatCount(sums.flows) },
    onDisk(report)
      ? {
          label: "Connections stored",
          value: formatCount(report.recent_retained),
          detail: html`<span>the oldest ${moment(stats.earliest, state)}</span>`,
        }
      : {
          label: "Minutes stored",
          value: `${formatCount(stats.buckets)} of ${formatCount(stats.capacity)}`,
        },
  ])}</section>`;
}

const UNITS_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000 };

/** Milliseconds of a duration as the API writes it, e.g. `1h0m0s`. */
function durationMs(text: string): number {
  return [...text.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (UNITS_MS[unit] ?? 0),
    0,
  );
}

/** More points than this are drawn as well by fewer. */
const MAX_POINTS = 720;

/** Steps without traffic are not in the answer. */
function timeline({ result }: FlowReport, state: PageState): View | undefined {
  const stepMs = durationMs(result.step);
  const [first, last] = [result.series.at(0), result.series.at(-1)];
  if (stepMs === 0 || first === undefined || last === undefined) return undefined;
  const beginMs = Date.parse(first.time);
  const count = Math.min(MAX_POINTS, Math.round((Date.parse(last.time) - beginMs) / stepMs) + 1);
  const points = Array.from({ length: count }, () => 0);
  for (const { time, counts } of result.series) {
    const at = Math.round((Date.parse(time) - beginMs) / stepMs);
    if (at >= 0 && at < count) points[at] = bytesOf(counts);
  }
  return part(
    "Timeline",
    timeSeries({
      title: `Bytes in ${result.step.replace(/(?<=h)0m0s$|(?<=m)0s$/, "")}`,
      points,
      format: formatBytes,
      span: () => formatMoment(beginMs, state.zone),
    }),
  );
}

function merged(report: FlowReport): View | undefined {
  const { result } = report;
  return result.truncated === 0
    ? undefined
    : banner(
        "notice",
        html`<span><strong>Some lists are not complete.</strong> ${formatCount(result.truncated)} connections were merged into “all others”, since a list was full. Sums count them all. ${onDisk(report) ? "A shorter window has longer lists." : html`<code>flows.capacity_profile: expanded</code> keeps twice as many.`}</span>`,
      );
}
