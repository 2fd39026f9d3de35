/** The catalogue in the status: every metric with its live series, and every log record. */
import { create } from "@bufbuild/protobuf";
import {
  Instrument,
  LogEventSchema,
  MetricSchema,
  type LogEvent,
  type Metric,
} from "../../../gen/steward/monitor/v1/export_pb.ts";
import { familyName, labelName } from "../../../kernel/telemetry/exposition/naming.ts";
import type { AnyLogRow, AnyRow, Kind } from "../../../kernel/telemetry/types.ts";

const instruments: Readonly<Record<Kind, Instrument>> = {
  counter: Instrument.COUNTER,
  gauge: Instrument.GAUGE,
  updown: Instrument.UPDOWNCOUNTER,
  histogram: Instrument.HISTOGRAM,
};

/** Of the whole process. */
export interface CatalogueRows {
  /** Sorted by name; `series` holds the number of live series per metric. */
  metrics(series: ReadonlyMap<string, number>): Metric[];
  /** Sorted by name; always the same list. */
  readonly logEvents: LogEvent[];
  /**
   * Name in the text exposition. Uncatalogued metrics are forwarded from agents and keep their
   * name.
   */
  expositionName(name: string): string;
}

/** The first of several rows with one name counts. */
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
