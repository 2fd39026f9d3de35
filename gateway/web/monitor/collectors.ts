/** The collectors panel: state of each collector, and why it fails. */
import {
  formatCount,
  formatMilliseconds,
  formatMoment,
  formatNumber,
  formatSeconds,
  formatSome,
  formatWords,
  UNKNOWN,
} from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { outcomes, sparkline } from "../pieces/chart.ts";
import { keyValues } from "../pieces/key-values.ts";
import { part } from "../pieces/section.ts";
import { badge, onOff, stateText, type State } from "../pieces/state.ts";
import { table, type Column } from "../pieces/table.ts";
import { duration, moment } from "../pieces/time.ts";
import type { Scope } from "./scope.ts";
import type { StatusJson, Collector, NodeDiscovery } from "../../../src/gen/status-json.ts";

function collectorState(each: Collector): readonly [state: State, word: string] {
  if (!each.has_run) return ["unknown", "starting"];
  if (each.consecutive_failures >= 3)
    return ["bad", `failing, ${formatCount(each.consecutive_failures)} in a row`];
  if (!each.last_success)
    return [
      "bad",
      `last run failed${each.consecutive_failures > 1 ? `, ${formatCount(each.consecutive_failures)} in a row` : ""}`,
    ];
  if (each.checkpoint?.stuck === true) return ["bad", "stuck"];
  if (each.overdue === true) return ["notice", "overdue"];
  return each.freshness_state === "stale" ? ["notice", "stale"] : ["good", "ok"];
}

const FRESHNESS: Readonly<Record<Collector["freshness_state"], readonly [State, string]>> = {
  ok: ["good", "fresh"],
  warning: ["notice", "ageing"],
  stale: ["bad", "stale"],
  none: ["unknown", "no success yet"],
};

export function collectorsPanel(status: StatusJson, scope: Scope, state: PageState): Child {
  return [
    table(
      {
        id: "collectors",
        what: "collectors",
        rows: scope.collectors,
        keyOf: (each) => `${each.network ?? ""} ${each.name}`,
        columns: columns(status, state),
        empty:
          "No collector runs. A network needs credentials (vpn.auth.* or headscale.*) before anything can be collected; the Config tab shows what is missing.",
      },
      state,
    ),
    part(
      "Node metrics targets",
      discovery(status.node_discovery, state),
      "Addresses of nodes whose own metrics are read.",
    ),
  ];
}

function columns(status: StatusJson, state: PageState): readonly Column<Collector>[] {
  return [
    {
      key: "name",
      title: "Collector",
      text: ({ name, network, description }) => `${name} ${network ?? ""} ${description ?? ""}`,
      order: ({ name }) => name,
      cell: nameCell,
    },
    ...(status.networks.length > 1
      ? [
          {
            key: "network",
            title: "Network",
            order: ({ network }: Collector) => network ?? "",
            cell: ({ network }: Collector) => network,
          },
        ]
      : []),
    {
      key: "state",
      title: "State",
      text: (each) => `${collectorState(each)[1]} ${each.last_error ?? ""}`,
      order: (each) => ["bad", "notice", "unknown", "good"].indexOf(collectorState(each)[0]),
      cell: (each) => stateCell(each, state),
    },
    {
      key: "fresh",
      title: "Data",
      order: ({ freshness_seconds, freshness_state }) =>
        freshness_state === "none" ? Infinity : freshness_seconds,
      cell: (each) => freshCell(each, state),
    },
    {
      key: "recent",
      title: "Recent runs",
      order: ({ outcome_series: runs = [] }) => runs.filter((ok) => !ok).length,
      cell: (each) => html`<span>${outcomes(each.outcome_series)}</span>`,
    },
    {
      key: "success",
      title: "Success",
      figure: true,
      order: ({ success_rate_pct }) => success_rate_pct,
      cell: ({ success_rate_pct, runs, failures }) =>
        runs === 0
          ? UNKNOWN
          : html`<span><span title=${`${success_rate_pct} %`}>${formatNumber(success_rate_pct)} %</span><small>${formatCount(failures)} of ${formatCount(runs)} failed</small></span>`,
    },
    {
      key: "duration",
      title: "Duration",
      figure: true,
      order: ({ last_duration_ms }) => last_duration_ms,
      cell: (each) =>
        html`<span>${each.has_run ? formatMilliseconds(each.last_duration_ms) : UNKNOWN}${sparkline(each.duration_ms_series, `duration of ${each.name}`, formatMilliseconds)}</span>`,
    },
    {
      key: "next",
      title: "Next run",
      figure: true,
      order: ({ next_run_in_seconds }) => next_run_in_seconds,
      cell: (each) =>
        html`<span>${duration(each.next_run_in, each.next_run_in_seconds)}<small>every ${formatSeconds(each.interval_seconds)}</small></span>`,
    },
  ];
}

function nameCell({ name, description, metrics = [] }: Collector): View {
  return html`<span><strong>${name}</strong><small>${description}</small>${metrics.length === 0 ? undefined : html`<details><summary>${formatSome(metrics.length, "metric")}</summary><ul class="plain">${metrics.map((metric) => html`<li><code>${metric.name}</code> ${metric.description}</li>`)}</ul></details>`}</span>`;
}

function stateCell(each: Collector, state: PageState): View {
  const [shown, word] = collectorState(each);
  return html`<span>${badge(shown, word)}${each.overdue === true && word !== "overdue" ? html`<small>overdue</small>` : undefined}${each.last_error === undefined ? undefined : html`<small class="error">${each.last_error}</small>`}
    <small title=${each.last_started_at === undefined ? undefined : `started ${each.last_started_at}`}>${each.last_finished_at === undefined ? "has not run yet" : html`<span>ran ${moment(each.last_finished_at, state)}</span>`}</small></span>`;
}

function freshCell(each: Collector, state: PageState): View {
  const [fresh, word] = FRESHNESS[each.freshness_state];
  const { checkpoint } = each;
  return html`<span>${stateText(fresh, word)}<small>${each.freshness_state === "none" ? "–" : html`<time datetime=${each.last_success_at} title=${exactly(each, state)}>${freshAge(each, state)} old</time>`}</small>
    ${checkpoint === undefined || checkpoint === null ? undefined : html`<small>read up to ${moment(checkpoint.high_water_mark, state)}, lag ${duration(checkpoint.lag, checkpoint.lag_seconds)}${checkpoint.stuck ? html`<strong>, stuck</strong>` : ""}</small>`}</span>`;
}

/** By the time of the last success, so that it advances with the other ages of the page. */
function freshAge({ last_success_at: at, freshness }: Collector, { nowMs }: PageState): string {
  const timeMs = Date.parse(at ?? "");
  return Number.isNaN(timeMs)
    ? formatWords(freshness ?? "some time")
    : formatSeconds((nowMs - timeMs) / 1000);
}

function exactly(
  { last_success_at: at, freshness = "", freshness_seconds }: Collector,
  { zone }: PageState,
): string {
  const timeMs = Date.parse(at ?? "");
  return `${Number.isNaN(timeMs) ? "" : `${formatMoment(timeMs, zone)}, `}${freshness === "" ? "" : `${freshness}, `}${freshness_seconds} s`;
}

function discovery(node: NodeDiscovery, state: PageState): Child {
  return [
    keyValues([
      ["Discovery", onOff(node.enabled)],
      ["Configured targets", formatCount(node.static)],
      ["All targets", formatCount(node.active)],
      [
        "Last discovery",
        html`<span>${moment(node.last_discovery, state)}${node.last_discovery === undefined ? undefined : node.last_ok ? ", succeeded" : ", failed"}</span>`,
      ],
      node.last_discovery === undefined && node.last_ok ? ["Last result", "ok"] : undefined,
    ]),
    table(
      {
        id: "targets",
        what: "targets",
        rows: node.targets,
        keyOf: ({ instance, url }) => `${instance} ${url}`,
        empty: "No target. Name some in collectors.node_metrics.targets, or switch discovery on.",
        columns: [
          {
            key: "instance",
            title: "Instance",
            text: ({ instance }) => instance,
            order: ({ instance }) => instance,
            cell: ({ instance }) => instance,
          },
          {
            key: "url",
            title: "Address",
            text: ({ url }) => url,
            order: ({ url }) => url,
            cell: ({ url }) => html`<code>${url}</code>`,
          },
          {
            key: "source",
            title: "From",
            text: ({ source }) => source,
            order: ({ source }) => source,
            cell: ({ source }) => source,
          },
        ],
      },
      state,
    ),
  ];
}
