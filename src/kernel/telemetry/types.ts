/** Types of telemetry: catalogue rows, scopes, sweeps, and status of series and delivery. */
export type Kind = "gauge" | "counter" | "updown" | "histogram";

export type AttributeValue = string | number | boolean;

export type Attributes = Readonly<Record<string, AttributeValue>>;

declare const nothingElse: unique symbol;

/**
 * One value for each attribute of a row; `undefined` omits that attribute from the series. Without
 * the symbol `{}` would accept anything.
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
  /** Inclusive upper bounds of a histogram's buckets, ascending; empty for other kinds. */
  readonly bounds: readonly number[];
  /** Each bucket of the histogram keeps the latest observation made inside a sampled span. */
  readonly exemplars: boolean;
  /**
   * A sum or histogram not written for this long ends; when written again it starts from zero.
   * Gauges end by sweeps.
   */
  readonly idleMs: number | undefined;
  /** The exposition uses the name unchanged, without the translator's rules. */
  readonly verbatim: boolean;
  /** Condition under which it is emitted, in words; undefined when always. */
  readonly when: string | undefined;
}

declare const attributeNames: unique symbol;
declare const logFields: unique symbol;

/**
 * A row checked by the compiler: only `defineMetric` makes one, and its attribute names are part of
 * its type.
 */
export interface Row<A extends string, K extends Kind> extends AnyRow {
  readonly kind: K;
  readonly [attributeNames]: (name: A) => A;
}

export type Severity = "debug" | "info" | "warn" | "error";

/** A row of the log catalogue as data. */
export interface AnyLogRow {
  /** The record's event name. */
  readonly name: string;
  readonly severity: Severity;
  /** Severity as shown in the documentation: in words where records of the row differ. */
  readonly severityText: string;
  readonly attributes: readonly string[];
  /** Heading under which the catalogue lists it. */
  readonly group: string;
  readonly help: string;
  /** The row stands for all records whose names begin with its own followed by a dot. */
  readonly family: boolean;
}

/** A log row checked by the compiler. */
export interface LogRow<A extends string> extends AnyLogRow {
  readonly [logFields]: (name: A) => A;
}

/** Redacts series and records. Called once per new combination of values, not per measurement. */
export interface Redaction {
  /**
   * The values in the order of the row's attributes, `undefined` where one is hidden; `suppress` to
   * show nothing.
   */
  metric(
    row: AnyRow,
    values: readonly (AttributeValue | undefined)[],
  ): readonly (AttributeValue | undefined)[] | "suppress";
  /** The record to ship, or undefined for none. */
  log?(row: AnyLogRow, record: LogFields): LogFields | undefined;
}

/** The variable part of a log record. */
export interface LogFields {
  readonly body: string;
  readonly attributes: Readonly<Record<string, AttributeValue | undefined>>;
  /** Milliseconds since 1970; default: the clock's time. */
  readonly timeMs?: number | undefined;
  /** When it was first observed, if elsewhere; default: when it is shipped. */
  readonly observedMs?: number | undefined;
  /** Overrides the row's severity. */
  readonly severity?: Severity;
  /** For a row that is a family: the rest of the name after the dot. */
  readonly type?: string;
}

/** What varies between records beside body and attributes. */
export type LogOptions = Pick<LogFields, "timeMs" | "observedMs" | "severity" | "type">;

/** A log record of a row, made when it is needed. */
export interface LazyLog<A extends string> extends LogOptions {
  readonly body: string;
  readonly attributes: Values<A>;
}

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
  /** Maximum number of series of one metric; default 10,000, 0 or less is unlimited. */
  readonly limits?: {
    readonly perMetric: number;
    /** Example values kept per attribute of a metric; default 100, 0 keeps none. */
    readonly labelValues?: number;
  };
  readonly redact?: Redaction;
}

/** Trace and span id in W3C's hexadecimal form. */
export interface TraceIds {
  readonly traceId: string;
  readonly spanId: string;
}

/** Seconds and nanoseconds. */
type WireTime = [seconds: number, nanoseconds: number];

/** The identity of a span, as in the SDK. */
export interface WireSpanContext extends TraceIds {
  readonly traceFlags: number;
  readonly traceState: string | undefined;
  readonly isRemote: boolean;
}

/** A finished span as plain data: the fields of the SDK's span. */
export interface WireSpan {
  readonly scope: number;
  readonly tracer: string;
  readonly name: string;
  readonly kind: number;
  readonly context: WireSpanContext;
  readonly parent: WireSpanContext | undefined;
  readonly start: WireTime;
  readonly end: WireTime;
  readonly duration: WireTime;
  readonly status: { readonly code: number; readonly message?: string };
  readonly attributes: Attributes;
  readonly links: readonly WireSpanContext[];
  readonly droppedAttributes: number;
}

/**
 * Writes measurements. No method throws for a value: what cannot be kept is counted in
 * `cardinality()`.
 */
export interface Scope {
  readonly name: string;
  /** Sets a gauge. */
  gauge<A extends string>(
    row: Row<A, "gauge">,
    value: number,
    attributes: Values<NoInfer<A>>,
  ): void;
  /** Adds to a sum; a counter accepts no negative delta. */
  add<A extends string>(
    row: Row<A, "counter" | "updown">,
    delta: number,
    attributes: Values<NoInfer<A>>,
  ): void;
  /** Takes over an external running total; a decrease is a reset and starts anew. */
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
   * Starts a round in which `owner` reports all its gauges. An open round of the same owner is
   * abandoned.
   */
  sweep(owner: string, options?: SweepOptions): Sweep;
  /** Ships a log record; a no-op without a log exporter. */
  log<A extends string>(
    row: LogRow<A>,
    body: string,
    attributes: Values<NoInfer<A>>,
    options?: LogOptions,
  ): void;
  /**
   * The same for records that are many: `make` is not called when the record would be dropped, or
   * without a log exporter.
   */
  logLazily<A extends string>(row: LogRow<A>, make: () => LazyLog<A>): void;
  /**
   * Ships a finished span; `make` is not called when it would be dropped. A no-op without a trace
   * exporter.
   */
  span(make: () => Omit<WireSpan, "scope">): void;
  /** Called synchronously just before a snapshot, for gauges that are cheap to read. */
  observe(collect: () => void): Disposable;
  /** Live series of a metric. */
  series(row: AnyRow): number;
  cardinality(): CardinalityInfo;
  /** Ends all series; later writes are ignored. */
  close(): void;
}

/** How long the gauges of an owner outlive its last complete round. */
export interface SweepOptions {
  /** Default: for ever. Checked when a round is abandoned and in the scope's housekeeping. */
  readonly staleMs?: number;
}

/**
 * One round of an owner. Values are visible at once; `commit` ends the owner's series that were not
 * written again.
 */
export interface Sweep extends Pick<Scope, "gauge"> {
  commit(): { readonly kept: number; readonly added: number; readonly ended: number };
  /** Ends only stale series. */
  abandon(): void;
}

/** Counters of one metric. */
export interface MetricCardinality {
  readonly name: string;
  readonly group: string;
  readonly series: number;
  /** At its limit: further combinations go to the overflow series, or are dropped for a gauge. */
  readonly overflowing: boolean;
  /** Example values of its attributes; computed on demand. */
  labels(): readonly LabelCardinality[];
}

/** Live series of one metric. */
export type SeriesFigures = Pick<MetricCardinality, "name" | "group" | "series" | "overflowing">;

/** Values of one attribute of one metric. */
export interface LabelCardinality {
  readonly name: string;
  /** Distinct values among live series, at most the limit of examples. */
  readonly distinct: number;
  /** There were more. */
  readonly capped: boolean;
  /** Sorted. */
  readonly examples: readonly string[];
}

/** Measurements and combinations that were not kept as written, by reason. */
export interface Refused {
  /** Writes to gauges beyond a limit. */
  readonly limit: number;
  /** Writes to series that redaction suppresses. */
  readonly suppressed: number;
  /** Values that are not numbers, and decreasing counters. */
  readonly invalid: number;
  /** Writes to counters and histograms beyond a limit, kept in the overflow series. */
  readonly overflowed: number;
}

/** Counters kept when series start and end, so reading them is cheap. */
export interface CardinalityInfo {
  readonly series: number;
  readonly limitPerMetric: number;
  readonly refused: Refused;
  readonly metrics: readonly MetricCardinality[];
}
