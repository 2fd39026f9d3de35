/**
 * The shapes of telemetry: catalogue rows, scopes, sweeps, and what is known about series and
 * delivery (KERNEL §1.6, §3).
 */
import type { WireSpan } from "./messages.ts";

/**
 * What a metric is: a level, a sum that only grows, a sum that goes both ways, or a distribution.
 */
export type Kind = "gauge" | "counter" | "updown" | "histogram";

/** The value of an attribute. */
export type AttributeValue = string | number | boolean;

/** Attributes by name, as on a resource. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

declare const nothingElse: unique symbol;

/**
 * One value for each attribute of a row; `undefined` leaves that attribute out of the series.
 * Without the symbol `{}` would take anything.
 */
export type Values<A extends string> = { readonly [K in A]: AttributeValue | undefined } & {
  readonly [nothingElse]?: never;
};

/** A row of the metric catalogue as data. */
export interface AnyRow {
  /** Dotted, e.g. `svc.pool.threads`. */
  readonly name: string;
  readonly kind: Kind;
  /** UCUM: `s`, `By`, `1`, `{task}`. */
  readonly unit: string;
  readonly attributes: readonly string[];
  /** Heading under which the catalogue lists it. */
  readonly group: string;
  readonly help: string;
  /** Inclusive upper bounds of a histogram's buckets, ascending; empty for the other kinds. */
  readonly bounds: readonly number[];
  /** Each bucket of the histogram keeps the latest observation inside a recorded span. */
  readonly exemplars: boolean;
  /**
   * A sum or histogram not written for this long ends; when it returns it starts anew. Gauges end
   * by sweeps.
   */
  readonly idleMs: number | undefined;
  /** The exposition shows the name as it is, without the translator's rule. */
  readonly verbatim: boolean;
  /** What must be so for it to be emitted, in words; undefined when its owner always does. */
  readonly when: string | undefined;
}

declare const attributeNames: unique symbol;
declare const logFields: unique symbol;

/**
 * A row that the compiler checks: only `defineMetric` makes one, and its attribute names are part
 * of its type.
 */
export interface Row<A extends string, K extends Kind> extends AnyRow {
  readonly kind: K;
  readonly [attributeNames]: (name: A) => A;
}

/** How serious a log record is. */
export type Severity = "debug" | "info" | "warn" | "error";

/** A row of the log catalogue as data. */
export interface AnyLogRow {
  /** The record's event name. */
  readonly name: string;
  readonly severity: Severity;
  /** Severity as documents show it: in words where records of the row differ. */
  readonly severityText: string;
  readonly attributes: readonly string[];
  /** Heading under which the catalogue lists it. */
  readonly group: string;
  readonly help: string;
  /** The row stands for all records whose names begin with its own and a dot. */
  readonly family: boolean;
}

/** A log row that the compiler checks. */
export interface LogRow<A extends string> extends AnyLogRow {
  readonly [logFields]: (name: A) => A;
}

/**
 * What privacy makes of a series or a record. Called once per new combination of values, not per
 * measurement.
 */
export interface Redaction {
  /**
   * The values in the order of the row's attributes, `undefined` where one is hidden; `suppress`
   * when nothing may be shown.
   */
  metric(
    row: AnyRow,
    values: readonly (AttributeValue | undefined)[],
  ): readonly (AttributeValue | undefined)[] | "suppress";
  /** The record to ship, or undefined for none. */
  log?(row: AnyLogRow, record: LogFields): LogFields | undefined;
}

/** The changing part of a log record. */
export interface LogFields {
  readonly body: string;
  readonly attributes: Readonly<Record<string, AttributeValue | undefined>>;
  /** Milliseconds since 1970; the clock's time unless given. */
  readonly timeMs?: number;
  /** When it was seen, if somebody else saw it first; the moment it is shipped unless given. */
  readonly observedMs?: number;
  /** Of this record; the row's own unless given. */
  readonly severity?: Severity;
  /** For a row that is a family: what follows its name and a dot. */
  readonly type?: string;
}

/** What differs from record to record beside body and attributes. */
export type LogOptions = Pick<LogFields, "timeMs" | "observedMs" | "severity" | "type">;

/** A set of series with its own resource: one for the process, one for each network. */
export interface ScopeSpec {
  /** Unique among the scopes of a thread. The first scope of the first thread is the process's. */
  readonly name: string;
  readonly resource: Attributes;
  /**
   * Further resource attributes of log records and spans, e.g. `process.pid`, which differs with
   * each start.
   */
  readonly logResource?: Attributes;
  /** Attributes of every series and record of the scope. */
  readonly constants: Attributes;
  /** Series of one metric; 10,000 unless given, 0 or less is no limit. */
  readonly limits?: {
    readonly perMetric: number;
    /**
     * Values of each attribute of a metric that are kept as examples; 100 unless given, 0 keeps
     * none.
     */
    readonly labelValues?: number;
  };
  readonly redact?: Redaction;
}

/**
 * Writes measurements. No method throws for a value: what cannot be kept is counted in
 * `cardinality()`.
 */
export interface Scope {
  readonly name: string;
  /** Sets a level. */
  gauge<A extends string>(
    row: Row<A, "gauge">,
    value: number,
    attributes: Values<NoInfer<A>>,
  ): void;
  /** Adds to a sum; a counter takes no negative delta. */
  add<A extends string>(
    row: Row<A, "counter" | "updown">,
    delta: number,
    attributes: Values<NoInfer<A>>,
  ): void;
  /** Takes over somebody else's own running total; a fall is a reset and starts anew. */
  total<A extends string>(
    row: Row<A, "counter">,
    total: number,
    attributes: Values<NoInfer<A>>,
  ): void;
  /** Counts one observation. */
  record<A extends string>(
    row: Row<A, "histogram">,
    value: number,
    attributes: Values<NoInfer<A>>,
  ): void;
  /** Ends one series now. False when there is none, or when redaction merged it with others. */
  end<A extends string>(row: Row<A, Kind>, attributes: Values<NoInfer<A>>): boolean;
  /**
   * Begins a round in which `owner` says all gauges it has. A round of the same owner still open is
   * abandoned.
   */
  sweep(owner: string, options?: SweepOptions): Sweep;
  /** Ships a log record. Without a log exporter it is nothing. */
  log<A extends string>(
    row: LogRow<A>,
    body: string,
    attributes: Values<NoInfer<A>>,
    options?: LogOptions,
  ): void;
  /**
   * Ships a span that has ended; `make` is not called for one that would be dropped. Without a
   * trace exporter it is nothing.
   */
  span(make: () => Omit<WireSpan, "scope">): void;
  /** Runs just before a snapshot is taken, synchronously; for levels that cost nothing to read. */
  observe(collect: () => void): Disposable;
  /** Live series of a metric. */
  series(row: AnyRow): number;
  cardinality(): CardinalityInfo;
  /** Ends all series; later writes are ignored. */
  close(): void;
}

/** How long the gauges of an owner outlive its last complete round. */
export interface SweepOptions {
  /** Default: for ever. Looked at when a round is abandoned and in the scope's housekeeping. */
  readonly staleMs?: number;
}

/**
 * One round of an owner. Values count at once; `commit` ends what the owner had and did not say
 * again.
 */
export interface Sweep extends Pick<Scope, "gauge"> {
  commit(): { readonly kept: number; readonly added: number; readonly ended: number };
  /** Ends nothing that is not stale. */
  abandon(): void;
}

/** Counters of one metric. */
export interface MetricCardinality {
  readonly name: string;
  readonly group: string;
  readonly series: number;
  /**
   * At its limit, so that further combinations meet in the overflow series, or are dropped if a
   * gauge.
   */
  readonly overflowing: boolean;
  /** The values of its attributes by example; made when asked for. */
  labels(): readonly LabelCardinality[];
}

/** Values of one attribute of one metric. */
export interface LabelCardinality {
  readonly name: string;
  /** Different values among live series, at most the limit of examples. */
  readonly distinct: number;
  /** There were more. */
  readonly capped: boolean;
  /** Sorted. */
  readonly examples: readonly string[];
}

/** Measurements and combinations that were not kept as asked, by reason. */
export interface Refused {
  /** Writes to gauges beyond a limit. */
  readonly limit: number;
  /** Writes whose series privacy suppresses. */
  readonly suppressed: number;
  /** Values that are no number, and falling counters. */
  readonly invalid: number;
  /** Writes to counters and histograms beyond a limit: kept in the overflow series. */
  readonly overflowed: number;
}

/** What a scope holds. Read from counters kept at birth and death of series. */
export interface CardinalityInfo {
  readonly series: number;
  readonly limitPerMetric: number;
  readonly refused: Refused;
  readonly metrics: readonly MetricCardinality[];
}
