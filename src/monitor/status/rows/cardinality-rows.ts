/** Cardinality in the status: counts, levels, alerts, growth and label values. */
import { create } from "@bufbuild/protobuf";
import {
  CardinalityAlertSchema,
  CardinalityInfoSchema,
  CardinalityLevel,
  CardinalityThresholdsSchema,
  LabelMetricSchema,
  LabelValuesSchema,
  MetricGrowthSchema,
  MetricSeriesSchema,
  type CardinalityAlert,
  type CardinalityInfo,
  type LabelValues,
  type MetricGrowth,
  type MetricSeries,
} from "../../../gen/steward/monitor/v1/cardinality_pb.ts";
import { labelName } from "../../../kernel/telemetry/exposition/naming.ts";
import type { CardinalityGrowth } from "../../../kernel/telemetry/series/cardinality-history.ts";
import { schemaVersion } from "../../../kernel/wire/style.ts";
import type { CardinalityOptions } from "../../options.ts";
import type { MergedMetric } from "../samplers/series-facts.ts";
import { mapInTurns, type Turns } from "../../../kernel/async/turns.ts";

/** 0 disables a level. */
export type Thresholds = Pick<CardinalityOptions, "warningThreshold" | "criticalThreshold">;

export interface CardinalityDeps {
  readonly thresholds: Thresholds;
  readonly expositionName: (metric: string) => string;
}

/** Used before the first interval with series, and without self-observability. */
export function unavailableCardinality(
  { warningThreshold, criticalThreshold }: Thresholds,
  totals: readonly number[] = [],
): CardinalityInfo {
  return create(CardinalityInfoSchema, {
    schemaVersion: schemaVersion(CardinalityInfoSchema),
    available: false,
    totalSeries: [...totals],
    thresholds: create(CardinalityThresholdsSchema, {
      warning: warningThreshold,
      critical: criticalThreshold,
    }),
  });
}

/** Includes growth and history only for the whole process. */
export async function cardinalityInfo(
  deps: CardinalityDeps,
  metrics: readonly MergedMetric[],
  growth: CardinalityGrowth | undefined,
  turns: Turns,
): Promise<CardinalityInfo> {
  const series = metrics
    .map((metric) => seriesRow(deps, metric))
    .toSorted((left, right) => right.count - left.count || byText(left.metric, right.metric));
  return {
    ...unavailableCardinality(deps.thresholds, growth?.totals),
    available: true,
    total: metrics.reduce((sum, metric) => sum + metric.series, 0),
    totalMetrics: metrics.length,
    series,
    alerts: alertsOf(series),
    labels: await labelRows(deps, metrics, turns),
    growth: growth === undefined ? [] : await growthRows(deps, growth, turns),
  };
}

function seriesRow(
  { thresholds, expositionName }: CardinalityDeps,
  { name, series, capped }: MergedMetric,
): MetricSeries {
  return create(MetricSeriesSchema, {
    metric: name,
    expositionName: expositionName(name),
    count: series,
    capped,
    level: levelOf(series, thresholds),
  });
}

/** Severity of a count. */
function levelOf(
  count: number,
  { warningThreshold, criticalThreshold }: Thresholds,
): CardinalityLevel {
  if (criticalThreshold > 0 && count >= criticalThreshold) return CardinalityLevel.CRITICAL;
  return warningThreshold > 0 && count >= warningThreshold
    ? CardinalityLevel.WARNING
    : CardinalityLevel.UNSPECIFIED;
}

/** Rows must be sorted by count. */
function alertsOf(series: readonly MetricSeries[]): CardinalityAlert[] {
  const of = (wanted: CardinalityLevel): CardinalityAlert[] =>
    series
      .filter(({ level }) => level === wanted)
      .map(({ metric, count, level }) => create(CardinalityAlertSchema, { metric, count, level }));
  return [...of(CardinalityLevel.CRITICAL), ...of(CardinalityLevel.WARNING)];
}

async function labelRows(
  { expositionName }: CardinalityDeps,
  metrics: readonly MergedMetric[],
  turns: Turns,
): Promise<LabelValues[]> {
  const uses = metrics.flatMap(({ name, labels }) => labels.map((label) => ({ name, label })));
  const rows = await mapInTurns(
    [...Map.groupBy(uses, ({ label }) => label.label)],
    turns,
    ([label, used]) =>
      create(LabelValuesSchema, {
        label: labelName(label),
        capped: used.some((use) => use.label.capped),
        totalDistinct: used.reduce((sum, use) => sum + use.label.distinct, 0),
        metrics: used
          .toSorted(
            (left, right) =>
              right.label.distinct - left.label.distinct || byText(left.name, right.name),
          )
          .map((use) =>
            create(LabelMetricSchema, {
              metric: use.name,
              expositionName: expositionName(use.name),
              distinct: use.label.distinct,
              capped: use.label.capped,
              examples: [...use.label.examples],
            }),
          ),
      }),
  );
  return rows.toSorted(
    (left, right) => right.totalDistinct - left.totalDistinct || byText(left.label, right.label),
  );
}

async function growthRows(
  { expositionName }: CardinalityDeps,
  { metrics }: CardinalityGrowth,
  turns: Turns,
): Promise<MetricGrowth[]> {
  const rows = await mapInTurns(metrics, turns, ({ name, series }) =>
    create(MetricGrowthSchema, {
      metric: name,
      expositionName: expositionName(name),
      current: series.at(-1) ?? 0,
      deltaPct: deltaOf(series),
      series: [...series],
    }),
  );
  return rows.toSorted(
    (left, right) =>
      Math.abs(right.deltaPct) - Math.abs(left.deltaPct) || byText(left.metric, right.metric),
  );
}

/** Change from the first sample to the last, in percent of the first. */
function deltaOf(series: readonly number[]): number {
  const first = series[0] ?? 0;
  return first === 0 ? 0 : (((series.at(-1) ?? 0) - first) / first) * 100;
}

function byText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
