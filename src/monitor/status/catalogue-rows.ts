/**
 * The catalogue as the documents show it: every metric with its live series, and every log record.
 */
import { create } from "@bufbuild/protobuf";
import {
  Instrument,
  LogEventSchema,
  MetricSchema,
  type LogEvent,
  type Metric,
} from "../../gen/steward/monitor/v1/export_pb.ts";
import { familyName, labelName } from "../../kernel/telemetry/exposition/naming.ts";
import type { AnyLogRow, AnyRow, Kind } from "../../kernel/telemetry/types.ts";

const instruments: Readonly<Record<Kind, Instrument>> = {
  counter: Instrument.COUNTER,
  gauge: Instrument.GAUGE,
  updown: Instrument.UPDOWNCOUNTER,
  histogram: Instrument.HISTOGRAM,
};

/** The catalogue of the whole process. */
export interface CatalogueRows {
  /** By name; `series` tells how many live series a metric has. */
  metrics(series: ReadonlyMap<string, number>): Metric[];
  /** By name; always the same list. */
  readonly logEvents: LogEvent[];
  /**
   * A metric's name in the text exposition. One that is in no catalogue is an agent's own, which is
   * shown as it is.
   */
  expositionName(name: string): string;
}

/** Of several rows with one name the first counts. */
export function createCatalogueRows(
  rows: readonly AnyRow[],
  records: readonly AnyLogRow[],
): CatalogueRows {
  const metrics = byName(rows).map((row) => ({ name: row.name, shown: shownMetric(row) }));
  const names = new Map(metrics.map(({ name, shown }) => [name, shown.expositionName]));
  return {
    metrics: (series) =>
      metrics.map(({ name, shown }) =>
        create(MetricSchema, { ...shown, series: series.get(name) ?? 0 }),
      ),
    logEvents: byName(records).map(logEvent),
    expositionName: (name) => names.get(name) ?? name.replaceAll(".", "_"),
  };
}

function shownMetric(row: AnyRow): {
  name: string;
  description: string;
  group: string;
  unit: string;
  instrument: Instrument;
  attributes: string[];
  expositionName: string;
} {
  const { name, kind, unit, attributes, group, help } = row;
  return {
    name,
    description: help,
    group,
    unit,
    instrument: instruments[kind],
    attributes: attributes.map(labelName),
    expositionName: familyName(row),
  };
}

function logEvent({ name, severityText, attributes, group, help, family }: AnyLogRow): LogEvent {
  return create(LogEventSchema, {
    name: family ? `${name}.<type>` : name,
    severity: severityText,
    attributes: [...attributes],
    group,
    description: help,
  });
}

function byName<R extends { readonly name: string }>(rows: readonly R[]): R[] {
  const first = new Map<string, R>();
  for (const row of rows) if (!first.has(row.name)) first.set(row.name, row);
  return [...first.values()].toSorted((left, right) => (left.name < right.name ? -1 : 1));
}
