/** The catalogue: metrics and log records as data that the compiler checks at every use. */
import { assert } from "../base/errors.ts";
import type { AnyLogRow, AnyRow, Kind, LogRow, Row, Severity } from "./types.ts";

const NAME = /^[a-z][a-z0-9_]*(\.[a-z0-9_]+)*$/;
const RESERVED_ATTRIBUTES: ReadonlySet<string> = new Set([
  "le",
  "quantile",
  "otel.metric.overflow",
]);
const MAX_BOUNDS = 64;

export interface MetricDefinition<A extends string, K extends Kind> {
  readonly name: string;
  readonly kind: K;
  /** UCUM: `s`, `By`, `1`, `{task}`. */
  readonly unit: string;
  readonly attributes?: readonly A[];
  readonly group: string;
  readonly help: string;
  /** Required for histograms, not allowed otherwise. */
  readonly bounds?: K extends "histogram" ? readonly number[] : never;
  /** For histograms: keep the latest span of each bucket while tracing is on. */
  readonly exemplars?: K extends "histogram" ? true : never;
  /** Not for gauges. */
  readonly idleMs?: number;
  readonly verbatim?: true;
  readonly when?: string;
}

/**
 * Creates a catalogue row. Throws when the definition breaks a rule of the catalogue, which is a
 * programming error.
 */
export function defineMetric<K extends Kind, const A extends string = never>(
  definition: MetricDefinition<A, K>,
): Row<A, K> {
  const {
    name,
    kind,
    unit,
    attributes = [],
    group,
    help,
    bounds,
    exemplars = false,
    idleMs,
    verbatim = false,
    when,
  } = definition;
  assert(NAME.test(name), `metric ${name} is a dotted name of a-z, 0-9 and _`);
  assert(help !== "" && !help.includes("\n"), `metric ${name} has a help text of one line`);
  checkAttributes(`metric ${name}`, attributes);
  const edges: readonly number[] = bounds ?? [];
  assert(
    (kind === "histogram") === edges.length > 0,
    `metric ${name} has bounds if and only if it is a histogram`,
  );
  assert(
    kind === "histogram" || !exemplars,
    `metric ${name} has exemplars only if it is a histogram`,
  );
  assert(
    kind !== "gauge" || idleMs === undefined,
    `gauge ${name} ends with its owner's sweep, not when idle`,
  );
  assert(edges.length <= MAX_BOUNDS, `metric ${name} has at most ${MAX_BOUNDS} bounds`);
  assert(
    edges.every(
      (edge, index) =>
        Number.isFinite(edge) && edge > (edges[index - 1] ?? Number.NEGATIVE_INFINITY),
    ),
    `bounds of ${name} ascend`,
  );
  const row: AnyRow = Object.freeze({
    name,
    kind,
    unit,
    attributes: [...attributes],
    group,
    help,
    bounds: [...edges],
    exemplars,
    idleMs,
    verbatim,
    when,
  });
  return row as Row<A, K>;
}

export interface LogDefinition<A extends string> {
  readonly name: string;
  /** Of records that do not set their own. */
  readonly severity: Severity;
  /** Shown in the documentation when records differ; defaults to the severity in upper case. */
  readonly severityText?: string;
  readonly attributes?: readonly A[];
  readonly group: string;
  readonly help: string;
  readonly family?: true;
}

/** Creates a log row. Throws when the definition breaks a rule of the catalogue. */
export function defineLogRecord<const A extends string = never>(
  definition: LogDefinition<A>,
): LogRow<A> {
  const {
    name,
    severity,
    severityText = severity.toUpperCase(),
    attributes = [],
    group,
    help,
    family = false,
  } = definition;
  assert(NAME.test(name), `log record ${name} is a dotted name of a-z, 0-9 and _`);
  checkAttributes(`log record ${name}`, attributes);
  const row: AnyLogRow = Object.freeze({
    name,
    severity,
    severityText,
    attributes: [...attributes],
    group,
    help,
    family,
  });
  return row as LogRow<A>;
}

/** Combines rows; throws when two have the same name. */
export function catalogue(...groups: readonly (readonly AnyRow[])[]): readonly AnyRow[] {
  const rows = groups.flat();
  const names = new Set<string>();
  for (const row of rows) {
    assert(!names.has(row.name), `metric ${row.name} is in the catalogue once`);
    names.add(row.name);
  }
  return rows;
}

function checkAttributes(owner: string, attributes: readonly string[]): void {
  assert(new Set(attributes).size === attributes.length, `${owner} names each attribute once`);
  for (const attribute of attributes) {
    assert(
      attribute !== "" && !attribute.startsWith("__") && !RESERVED_ATTRIBUTES.has(attribute),
      `${owner} has no attribute ${attribute}: reserved`,
    );
  }
}
