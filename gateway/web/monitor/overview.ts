/** The overview panel: key figures of the monitor and their history over the last minutes. */
import {
  formatAge,
  formatAuth,
  formatBytes,
  formatCount,
  formatMilliseconds,
  formatNumber,
  formatSeconds,
  formatSome,
  formatWord,
  UNKNOWN,
} from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { timeSeries } from "../pieces/chart.ts";
import { figures, type Figure } from "../pieces/card.ts";
import { part } from "../pieces/section.ts";
import { onOff, stateText, worst } from "../pieces/state.ts";
import { table } from "../pieces/table.ts";
import { duration, moment } from "../pieces/time.ts";
import { deliveryState } from "./export.ts";
import type { Scope } from "./scope.ts";
import type { StatusJson, DeviceCache } from "../../../src/gen/status-json.ts";

const SAMPLE_SECONDS = 10;

export function overviewPanel(status: StatusJson, scope: Scope, state: PageState): Child {
  return [
    figures([
      ...collecting(status, scope, state),
      ...exporting(status, scope, state),
      ...process(status, state),
    ]),
    part("The last ten minutes", html`<div class="charts">${charts(status)}</div>`),
    networks(status, state),
  ];
}

function collecting(
  status: StatusJson,
  { collectors, device_cache: cache }: Scope,
  state: PageState,
): readonly Figure[] {
  const { fleet } = status;
  const failing = collectors.filter(({ has_run, last_success }) => has_run && !last_success).length;
  const stale = collectors.filter(({ freshness_state }) => freshness_state === "stale").length;
  const ok = collectors.filter(({ has_run, last_success }) => has_run && last_success).length;
  return [
    {
      label: "Collectors ok",
      value: html`<span>${formatCount(ok)}<small class="of"> of ${formatCount(collectors.length)}</small></span>`,
      detail: `${formatCount(fleet.active)} have run`,
    },
    {
      label: "Failing",
      value: figureOf(failing, "bad"),
      detail: `${formatCount(fleet.failing)} in all networks`,
    },
    { label: "Stale", value: figureOf(stale, "notice"), detail: "data older than five intervals" },
    { label: "Devices", value: deviceCount(cache), detail: devicesRead(cache, status, state) },
  ];
}

/** No devices and devices never read are different states. */
export function deviceCount({ devices, age }: DeviceCache): string {
  return age === "" ? UNKNOWN : formatCount(devices);
}

/** When they were read: the age advances while no newer status arrives. */
export function devicesRead(
  { age, age_seconds }: DeviceCache,
  { generated_at }: Pick<StatusJson, "generated_at">,
  { nowMs }: PageState,
): View {
  const sinceMs = Date.parse(generated_at) - age_seconds * 1000;
  return age === ""
    ? html`<span>not read yet</span>`
    : html`<span title=${`${age}, ${age_seconds} s`}>read ${formatAge(sinceMs, nowMs)}</span>`;
}

function figureOf(count: number, state: "bad" | "notice"): Child {
  return count === 0 ? "0" : stateText(state, formatCount(count));
}

function exporting(
  { delivery, telemetry, throughput }: StatusJson,
  { cardinality }: Scope,
  state: PageState,
): readonly Figure[] {
  const pushes = telemetry.endpoint !== "" || telemetry.protocol === "stdout";
  const newest = delivery
    .map(({ last_success_at }) => last_success_at ?? "")
    .filter((each) => each !== "")
    .sort()
    .at(-1);
  return [
    {
      label: "Last export",
      value: moment(newest, state, pushes ? "never" : UNKNOWN),
      detail: pushes || newest !== undefined ? signals(delivery) : "nothing is pushed",
    },
    {
      label: "Export target",
      value: telemetry.endpoint === "" ? "none" : html`<code>${telemetry.endpoint}</code>`,
      detail: !pushes
        ? "nothing is pushed: set otlp.endpoint"
        : `${telemetry.protocol}, every ${formatSeconds(telemetry.metric_interval_seconds)}`,
    },
    { label: "Active series", ...activeSeries(cardinality) },
    {
      label: "Passed to the exporter",
      value: formatCount(throughput.metric_points),
      detail: `points, and ${formatSome(throughput.log_records, "log record")}`,
    },
  ];
}

/** The worst of the signals first; one word where they agree. */
function signals(delivery: StatusJson["delivery"]): View {
  const states = delivery.map((each) => ({ signal: each.signal, state: deliveryState(each) }));
  const overall = worst(states.map(({ state }) => state[0]).filter((each) => each !== "unknown"));
  const all = new Set(states.map(({ state }) => state[1]));
  return stateText(
    overall,
    all.size === 1
      ? `all signals: ${[...all].join("")}`
      : states.map(({ signal, state }) => `${signal} ${state[1]}`).join(", "),
  );
}

/**
 * Series are counted once an export interval has passed; before that the number is unknown, not
 * zero.
 */
export function seriesCount({
  available,
  total,
}: Pick<Scope["cardinality"], "available" | "total">): string {
  return available || total > 0 ? formatCount(total) : UNKNOWN;
}

/** The figure with what it counts. */
export function activeSeries(
  cardinality: Pick<Scope["cardinality"], "available" | "total" | "total_metrics">,
): Pick<Figure, "value" | "detail"> {
  const { total_metrics: metrics } = cardinality;
  return {
    value: seriesCount(cardinality),
    detail: metrics === 0 ? "not counted yet" : `of ${formatCount(metrics)} metrics`,
  };
}

function process({ service, update, runtime }: StatusJson, state: PageState): readonly Figure[] {
  return [
    {
      label: "Uptime",
      value: duration(service.uptime, service.uptime_seconds),
      detail: html`<span>started ${moment(service.started_at, state)}</span>`,
    },
    {
      label: "Release",
      value: html`<span class="small">${UPDATE[update.state] ?? update.state}</span>`,
      detail: updateDetail({ update, service }, state),
    },
    {
      label: "Heap",
      value: html`<span title=${`${runtime.heap_alloc_bytes} bytes, ${runtime.heap_alloc}`}>${formatBytes(runtime.heap_alloc_bytes)}</span>`,
      detail: formatSome(runtime.num_gc, "collection"),
    },
    {
      label: "Runtime",
      value: html`<span class="small">${service.runtime_version}</span>`,
      detail: `${formatSome(runtime.workers, "worker")} on ${formatSome(runtime.max_procs, "core")}, self-observability ${onOff(service.self_observability)}`,
    },
  ];
}

const UPDATE: Readonly<Record<string, string>> = {
  disabled: "not checked",
  checking: "checking",
  error: "check failed",
  unknown: "cannot be compared",
  current: "current",
  available: "update available",
};

function updateDetail(
  { update, service }: Pick<StatusJson, "update" | "service">,
  state: PageState,
): View {
  const { current_version: now, latest_version: latest, minors_behind: behind = 0 } = update;
  const running =
    now === undefined || now === service.version ? service.version : `${service.version} (${now})`;
  const versions =
    latest === undefined
      ? `running ${running}`
      : `running ${running}, newest ${latest}${behind === 0 ? "" : `, ${formatSome(behind, "minor release")} behind`}`;
  return html`<span>${versions}${update.enabled ? html`<span>, checked ${moment(update.last_checked_at, state)}</span>` : ", check off"}${update.last_error_class === undefined ? undefined : html`<span class="error">, ${formatWord(update.last_error_class)}</span>`}${releases(update.release_url)}</span>`;
}

// The URL is a constant; still, a link must always be http(s).
function releases(url: string): Child {
  return /^https?:\/\//i.test(url)
    ? html`<span>, <a href=${url} rel="noreferrer">releases</a></span>`
    : undefined;
}

function charts({ runtime, throughput, fleet }: StatusJson): readonly View[] {
  const span = (samples: number): string => `${formatSeconds((samples - 1) * SAMPLE_SECONDS)} ago`;
  const perSecond = (value: number): string => `${formatNumber(value)}/s`;
  return [
    timeSeries({
      title: "Metric points",
      points: throughput.metric_points_per_sec_series,
      format: perSecond,
      now: throughput.metric_points_per_sec,
      span,
    }),
    timeSeries({
      title: "Log records",
      points: throughput.log_records_per_sec_series,
      format: perSecond,
      now: throughput.log_records_per_sec,
      span,
    }),
    timeSeries({
      title: "Failing collectors",
      points: fleet.failing_series,
      format: formatCount,
      now: fleet.failing,
      span,
    }),
    timeSeries({
      title: "Mean duration",
      points: fleet.active === 0 ? undefined : fleet.mean_duration_ms_series,
      format: formatMilliseconds,
      now: fleet.active === 0 ? undefined : fleet.mean_duration_ms,
      span,
      none: "No collector has run yet.",
    }),
    timeSeries({
      title: "Heap",
      points: runtime.heap_alloc_series,
      format: formatBytes,
      now: runtime.heap_alloc_bytes,
      span,
    }),
    timeSeries({
      title: "Garbage collections",
      points: runtime.gc_rate_series,
      format: perSecond,
      span,
    }),
    timeSeries({
      title: "Workers",
      points: runtime.workers_series,
      format: formatCount,
      now: runtime.workers,
      span,
    }),
  ];
}

function networks(status: StatusJson, state: PageState): View {
  const { networks: rows } = status;
  return part(
    "Networks",
    table(
      {
        id: "networks",
        what: "networks",
        rows,
        keyOf: ({ name }) => name,
        empty:
          "No network is configured. Set credentials (vpn.auth or headscale), or networks[] for several.",
        columns: [
          {
            key: "name",
            title: "Network",
            text: ({ name }) => name,
            order: ({ name }) => name,
            cell: ({ name }) => html`<strong>${name}</strong>`,
          },
          {
            key: "auth",
            title: "Authentication",
            order: ({ auth_method }) => auth_method,
            cell: ({ auth_method }) => formatAuth(auth_method),
          },
          {
            key: "failing",
            title: "Failing",
            figure: true,
            order: ({ failing }) => failing,
            cell: ({ failing, collectors }) =>
              html`<span>${figureOf(failing, "bad")}<small>of ${formatCount(collectors.length)} collectors</small></span>`,
          },
          {
            key: "devices",
            title: "Devices",
            figure: true,
            order: ({ devices }) => devices.length,
            cell: ({ device_cache: cache }) =>
              html`<span>${deviceCount(cache)}<small>${devicesRead(cache, status, state)}</small></span>`,
          },
          {
            key: "calls",
            title: "Calls",
            figure: true,
            order: ({ api }) => api.auth.total_calls,
            cell: ({ api }) =>
              html`<span>${formatCount(api.auth.total_calls)}<small>${formatCount(api.auth.total_429)} answered 429</small></span>`,
          },
          {
            key: "series",
            title: "Series",
            figure: true,
            order: ({ cardinality }) => cardinality.total,
            cell: ({ cardinality }) => seriesCount(cardinality),
          },
        ],
      },
      state,
    ),
  );
}
