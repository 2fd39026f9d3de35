/** Series per metric, merged over scopes and threads. */
import { SERIES_PREFIX } from "../../../kernel/telemetry/series/cardinality-history.ts";
import type { CardinalityInfo } from "../../../kernel/telemetry/types.ts";
import type { MetricFacts } from "../process/process-status.ts";
import type { Turns } from "../../../kernel/async/turns.ts";

/** Default limit of series per metric for scopes without one. */
const DEFAULT_LIMIT = 10_000;
/** Example values shown per label. */
const MAX_EXAMPLES = 100;

export interface MergedMetric {
  readonly name: string;
  readonly series: number;
  readonly capped: boolean;
  readonly labels: readonly MergedLabel[];
}

interface MergedLabel {
  readonly label: string;
  /** Distinct values, as far as they are remembered. */
  readonly distinct: number;
  readonly capped: boolean;
  /** Sorted. */
  readonly examples: readonly string[];
}

/** Metrics of a scope of this thread with their label values, except metrics about series. */
export async function scopeFacts(
  { metrics, limitPerMetric }: CardinalityInfo,
  turns: Turns,
): Promise<MetricFacts[]> {
  const limit = limitPerMetric > 0 ? limitPerMetric : DEFAULT_LIMIT;
  const facts: MetricFacts[] = [];
  for (const metric of metrics) {
    const { name, series, overflowing } = metric;
    if (turns.over) await turns.give();
    if (series === 0 || name.startsWith(SERIES_PREFIX)) continue;
    facts.push({
      name,
      series,
      overflowing: overflowing || series >= limit,
      labels: metric.labels().map((label) => ({
        label: label.name,
        distinct: label.distinct,
        capped: label.capped,
        examples: label.examples,
      })),
    });
  }
  return facts;
}

/** Only series counts by metric: cheap enough for each status. */
export function seriesCounts(
  infos: readonly Pick<CardinalityInfo, "metrics">[],
  processStatus: readonly Pick<MetricFacts, "name" | "series">[],
): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { name, series } of [...infos.flatMap(({ metrics }) => metrics), ...processStatus])
    counts.set(name, (counts.get(name) ?? 0) + series);
  return counts;
}

/** Merges by name: series are added, label values are counted once. */
export async function mergeFacts(
  facts: readonly MetricFacts[],
  turns: Turns,
): Promise<MergedMetric[]> {
  const groups = Map.groupBy(
    facts.filter(({ series, name }) => series > 0 && !name.startsWith(SERIES_PREFIX)),
    ({ name }) => name,
  );
  const merged: MergedMetric[] = [];
  for (const [name, group] of groups) {
    if (turns.over) await turns.give();
    const labels = Map.groupBy(
      group.flatMap((each) => each.labels),
      ({ label }) => label,
    );
    merged.push({
      name,
      series: group.reduce((sum, { series }) => sum + series, 0),
      capped: group.some(({ overflowing }) => overflowing),
      labels: [...labels]
        .map(([label, several]) => mergeLabel(label, several))
        .filter(({ distinct }) => distinct > 0),
    });
  }
  return merged;
}

function mergeLabel(label: string, several: MetricFacts["labels"]): MergedLabel {
  const [only] = several;
  if (only !== undefined && several.length === 1)
    return {
      label,
      distinct: only.distinct,
      capped: only.capped,
      examples: only.examples.slice(0, MAX_EXAMPLES),
    };
  const values = new Set(several.flatMap(({ examples }) => examples));
  // A scope that remembers fewer values than it has reports a higher count of its own.
  const distinct = Math.max(values.size, ...several.map((each) => each.distinct));
  return {
    label,
    distinct,
    capped: several.some(({ capped }) => capped),
    examples: [...values].toSorted().slice(0, MAX_EXAMPLES),
  };
}
