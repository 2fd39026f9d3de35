/**
 * Metric producer for the SDK's reader: converts a snapshot of one scope to the exporter's data.
 */
import { ValueType } from "@opentelemetry/api";
import type { HrTime } from "@opentelemetry/api";
import { AggregationTemporality, DataPointType } from "@opentelemetry/sdk-metrics";
import type {
  CollectionResult,
  DataPoint,
  Histogram,
  MetricData,
  MetricProducer,
} from "@opentelemetry/sdk-metrics";
import { emptyResource } from "@opentelemetry/resources";
import type { WireRow } from "../../messages.ts";
import type { HistogramPoint } from "./otlp-metrics.ts";
import type { HeldSnapshot, RemoteScope } from "../remote-scope.ts";

const NOTHING: CollectionResult = {
  resourceMetrics: { resource: emptyResource(), scopeMetrics: [] },
  errors: [],
};
/** Gauges have no start time. */
const NO_TIME: HrTime = [0, 0];

export interface ProducerOptions {
  readonly timeoutMs: number;
  readonly skipped: () => void;
}

/**
 * A producer for one scope. Never rejects: a snapshot that times out yields no points and counts in
 * `skipped`.
 */
export function seriesProducer(scope: RemoteScope, options: ProducerOptions): MetricProducer {
  return {
    async collect() {
      const snapshot = await scope.snapshot(options.timeoutMs);
      if (!snapshot) {
        if (!scope.closed && scope.mayLeave) options.skipped();
        return NOTHING;
      }
      const metrics = collectMetrics(scope, snapshot);
      snapshot.release();
      return metrics.length === 0
        ? NOTHING
        : {
            resourceMetrics: {
              resource: emptyResource(),
              scopeMetrics: [{ scope: { name: "steward" }, metrics }],
            },
            errors: [],
          };
    },
  };
}

function collectMetrics(scope: RemoteScope, snapshot: HeldSnapshot): MetricData[] {
  const metrics: MetricData[] = [];
  for (const [rowNumber, numbers] of snapshot.series()) {
    const row = scope.rows.get(rowNumber);
    if (row) metrics.push(metricData(row, scope, snapshot, numbers));
  }
  return metrics;
}

function metricData(
  row: WireRow,
  scope: RemoteScope,
  snapshot: HeldSnapshot,
  numbers: readonly number[],
): MetricData {
  const base = {
    descriptor: {
      name: row.name,
      description: row.help,
      unit: row.unit,
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  const points = pointMaker(scope, snapshot);
  const { value, slab } = snapshot.columns;
  const number = (series: number): number => value[series] ?? 0;
  switch (row.kind) {
    case "gauge":
      return {
        ...base,
        dataPointType: DataPointType.GAUGE,
        dataPoints: numbers.map((series) => points(series, number(series))),
      };
    case "counter":
      return {
        ...base,
        dataPointType: DataPointType.SUM,
        isMonotonic: true,
        dataPoints: numbers.map((series) => points(series, number(series))),
      };
    case "updown":
      return {
        ...base,
        dataPointType: DataPointType.SUM,
        isMonotonic: false,
        dataPoints: numbers.map((series) => points(series, number(series))),
      };
    case "histogram":
      return {
        ...base,
        dataPointType: DataPointType.HISTOGRAM,
        dataPoints: numbers.map((series) =>
          withExemplars(
            points(series, histogram(row.bounds, slab, number(series))),
            snapshot,
            number(series),
          ),
        ),
      };
  }
}

function pointMaker(
  scope: RemoteScope,
  snapshot: HeldSnapshot,
): <T>(series: number, value: T) => DataPoint<T> {
  const endTime = hrTime(snapshot.atMs);
  const { start } = snapshot.columns;
  let lastMs = 0;
  let last = NO_TIME;
  return (series, value) => {
    const startMs = start[series] ?? 0;
    if (startMs !== lastMs) {
      lastMs = startMs;
      last = startMs === 0 ? NO_TIME : hrTime(startMs);
    }
    return { startTime: last, endTime, attributes: scope.attributesOf(series) ?? {}, value };
  };
}

function withExemplars(
  point: DataPoint<Histogram>,
  snapshot: HeldSnapshot,
  offset: number,
): HistogramPoint {
  const exemplars = point.value.buckets.counts.flatMap(
    (_count, bucket) => snapshot.exemplar(offset + bucket) ?? [],
  );
  return exemplars.length === 0 ? point : { ...point, exemplars };
}

/** A slab block as the SDK's histogram. */
function histogram(bounds: readonly number[], slab: Float64Array, offset: number): Histogram {
  const counts = Array.from(slab.subarray(offset, offset + bounds.length + 1));
  return {
    buckets: { boundaries: [...bounds], counts },
    sum: slab[offset + bounds.length + 1] ?? 0,
    count: counts.reduce((sum, count) => sum + count, 0),
  };
}

function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1_000_000)];
}
