/** The cardinality panel: which metrics, labels and values make up the series. */
import { formatCount, formatNumber, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { sparkline, timeSeries } from "../pieces/chart.ts";
import { figures } from "../pieces/card.ts";
import { empty, part } from "../pieces/section.ts";
import { badge, stateText } from "../pieces/state.ts";
import { table } from "../pieces/table.ts";
import { activeSeries } from "./overview.ts";
import type { Scope } from "./scope.ts";
import type { CardinalityInfo, LabelValues } from "../../../src/gen/status-json.ts";

export function cardinalityPanel({ cardinality: info }: Scope, state: PageState): Child {
  const { thresholds, total, total_series, schema_version } = info;
  return [
    figures([
      { label: "Active series", ...activeSeries(info) },
      {
        label: "Warning from",
        value: thresholds.warning === 0 ? "off" : formatCount(thresholds.warning),
        detail: "series of one metric",
      },
      {
        label: "Critical from",
        value: thresholds.critical === 0 ? "off" : formatCount(thresholds.critical),
        detail: "series of one metric",
      },
      {
        label: "Schema",
        value: schema_version,
        detail: info.available ? "counted each export interval" : "not counted yet",
      },
    ]),
    !info.available || total_series === undefined || total_series.length === 0
      ? undefined
      : timeSeries({
          title: "Series in total",
          points: total_series,
          format: formatCount,
          now: total,
          span: (samples) => `${formatSome(samples - 1, "sample")} ago`,
        }),
    info.available
      ? undefined
      : empty(
          "Series are counted once a whole export interval has passed, while self_observability.enabled is on.",
        ),
    alerts(info),
    info.available ? part("Series by metric", seriesTable(info, state)) : undefined,
    info.available
      ? part(
          "Labels",
          labelTable(info, state),
          "Number of distinct values of each label over all metrics. Labels with many values cause many series.",
        )
      : undefined,
    info.growth === undefined ? undefined : part("Growth", growthTable(info.growth, state)),
  ];
}

function alerts({ alerts: rows = [] }: CardinalityInfo): Child {
  if (rows.length === 0) return undefined;
  return part(
    "Alerts",
    html`<ul class="plain">${rows.map(({ metric, count, level }) => html`<li>${badge(level === "critical" ? "bad" : "notice", level ?? "warning")} <code>${metric}</code> has ${formatCount(count)} series</li>`)}</ul>`,
  );
}

function names(metric: string, exposition: string): View {
  return html`<span><code>${metric}</code><small>${exposition}</small></span>`;
}

function seriesTable({ series = [] }: CardinalityInfo, state: PageState): View {
  return table(
    {
      id: "series",
      what: "metrics",
      rows: series,
      keyOf: ({ metric }) => metric,
      empty: "No series was written in the last interval.",
      columns: [
        {
          key: "metric",
          title: "Metric",
          text: ({ metric, exposition_name }) => `${metric} ${exposition_name}`,
          order: ({ metric }) => metric,
          cell: ({ metric, exposition_name }) => names(metric, exposition_name),
        },
        {
          key: "count",
          title: "Series",
          figure: true,
          order: ({ count }) => count,
          cell: ({ count }) => formatCount(count),
        },
        {
          key: "level",
          title: "Level",
          order: ({ level }) => level ?? "",
          cell: ({ level, capped }) =>
            html`<span>${level === undefined ? stateText("good", "ok") : stateText(level === "critical" ? "bad" : "notice", level)}${capped ? html`<small class="error">capped: further series are folded into one</small>` : undefined}</span>`,
        },
      ],
    },
    state,
  );
}

function labelTable({ labels = [] }: CardinalityInfo, state: PageState): View {
  return table(
    {
      id: "labels",
      what: "labels",
      rows: labels,
      keyOf: ({ label }) => label,
      empty: "No label was seen in the last interval.",
      columns: [
        {
          key: "label",
          title: "Label",
          text: ({ label }) => label,
          order: ({ label }) => label,
          cell: ({ label, capped }) =>
            html`<span><code>${label}</code>${capped ? html`<small>capped: there may be more values</small>` : undefined}</span>`,
        },
        {
          key: "distinct",
          title: "Values",
          figure: true,
          order: ({ total_distinct }) => total_distinct,
          cell: ({ total_distinct }) => formatCount(total_distinct),
        },
        {
          key: "metrics",
          title: "In metrics",
          text: ({ metrics }) => metrics.map(({ metric }) => metric).join(" "),
          cell: labelMetrics,
        },
      ],
    },
    state,
  );
}

function labelMetrics({ metrics }: LabelValues): View {
  return metrics.length === 0
    ? html`<span class="muted">–</span>`
    : html`<details><summary>${formatSome(metrics.length, "metric")}</summary><ul class="plain">${metrics.map((each) => html`<li><code title=${each.exposition_name}>${each.metric}</code> ${formatCount(each.distinct)}${each.capped ? " or more" : ""} values${each.examples === undefined ? undefined : html`<small>e.g. ${each.examples.join(", ")}</small>`}</li>`)}</ul></details>`;
}

function growthTable(growth: NonNullable<CardinalityInfo["growth"]>, state: PageState): View {
  return table(
    {
      id: "growth",
      what: "metrics",
      rows: growth,
      keyOf: ({ metric }) => metric,
      empty: "No metric grew.",
      columns: [
        {
          key: "metric",
          title: "Metric",
          text: ({ metric, exposition_name }) => `${metric} ${exposition_name}`,
          order: ({ metric }) => metric,
          cell: ({ metric, exposition_name }) => names(metric, exposition_name),
        },
        {
          key: "current",
          title: "Now",
          figure: true,
          order: ({ current }) => current,
          cell: ({ current }) => formatCount(current),
        },
        {
          key: "delta",
          title: "Change",
          figure: true,
          order: ({ delta_pct }) => delta_pct,
          cell: ({ delta_pct }) => `${delta_pct > 0 ? "+" : ""}${formatNumber(delta_pct)} %`,
        },
        {
          key: "line",
          title: "Trend",
          order: ({ series: points }) => Math.max(...points) - Math.min(...points),
          cell: ({ metric, series }) =>
            html`<span>${sparkline(series, `series of ${metric}`)}</span>`,
        },
      ],
    },
    state,
  );
}
