/** A scope: methods that write measurements into its series table. */
import type { Clock } from "../../base/clock.ts";
import type { Columns } from "../messages.ts";
import type {
  TraceIds,
  WireSpan,
  AnyLogRow,
  AnyRow,
  AttributeValue,
  CardinalityInfo,
  LazyLog,
  LogFields,
  LogOptions,
  LogRow,
  Refused,
  Row,
  Scope,
  ScopeSpec,
  Sweep,
  SweepOptions,
  Values,
  Kind,
} from "../types.ts";
import type { Ceiling } from "../series/ceiling.ts";
import { Owners } from "../series/owners.ts";
import type { RowIndex } from "../series/row-index.ts";
import { SUPPRESSED } from "../series/row-index.ts";
import { SeriesTable } from "../series/series-table.ts";

const DEFAULT_PER_METRIC = 10_000;
const DEFAULT_LABEL_VALUES = 100;
/** How often idle series are looked for. */
const HOUSEKEEPING_MS = 10_000;

export interface ScopeDeps {
  readonly clock: Clock;
  readonly ceiling: Ceiling;
  readonly rowNumber: (row: AnyRow) => number;
  /** Called when enough label changes have accumulated for a message. */
  readonly due: () => void;
  /** `make` is called at once or never; a record that it does not make is not shipped. */
  readonly log: (row: LogRow<string>, make: () => LogFields | undefined) => void;
  readonly span: (make: () => Omit<WireSpan, "scope">) => void;
  readonly closed: () => void;
  /** The active sampled span, for exemplars; absent while tracing is off. */
  readonly trace?: () => TraceIds | undefined;
}

type Given = Readonly<Record<string, AttributeValue | undefined>>;

export class SeriesScope implements Scope {
  readonly name: string;
  readonly spec: ScopeSpec;
  readonly table: SeriesTable;
  readonly #deps: ScopeDeps;
  readonly #owners: Owners;
  readonly #observers = new Set<() => void>();
  readonly #refused = { limit: 0, suppressed: 0, invalid: 0, overflowed: 0 };
  readonly #perMetric: number;
  #closed = false;
  #tidiedAtMs: number;

  constructor(spec: ScopeSpec, deps: ScopeDeps) {
    this.name = spec.name;
    this.spec = spec;
    this.#deps = deps;
    this.#perMetric = spec.limits?.perMetric ?? DEFAULT_PER_METRIC;
    this.table = new SeriesTable({
      perMetric: this.#perMetric,
      labelValues: spec.limits?.labelValues ?? DEFAULT_LABEL_VALUES,
      redact: spec.redact,
      ceiling: deps.ceiling,
      rowNumber: deps.rowNumber,
      now: () => deps.clock.now(),
      due: () => deps.due(),
    });
    this.#owners = new Owners(
      this.table,
      (row, value, attributes) => this.#setGauge(row, value, attributes),
      () => deps.clock.monotonic(),
    );
    this.#tidiedAtMs = deps.clock.monotonic();
  }

  gauge<A extends string>(
    row: Row<A, "gauge">,
    value: number,
    attributes: Values<NoInfer<A>>,
  ): void {
    this.#setGauge(row, value, attributes);
  }

  add<A extends string>(
    row: Row<A, "counter" | "updown">,
    delta: number,
    attributes: Values<NoInfer<A>>,
  ): void {
    if (!Number.isFinite(delta) || (delta < 0 && row.kind === "counter"))
      return this.#refuse("invalid");
    const number = this.#sum(row, attributes);
    if (number === undefined) return;
    const { value } = this.table.columns;
    value[number] = (value[number] ?? 0) + delta;
  }

  total<A extends string>(
    row: Row<A, "counter">,
    total: number,
    attributes: Values<NoInfer<A>>,
  ): void {
    if (!Number.isFinite(total) || total < 0) return this.#refuse("invalid");
    const number = this.#sum(row, attributes);
    if (number === undefined) return;
    const { value, start } = this.table.columns;
    if (total < (value[number] ?? 0)) start[number] = this.#deps.clock.now();
    value[number] = total;
  }

  record<A extends string>(
    row: Row<A, "histogram">,
    value: number,
    attributes: Values<NoInfer<A>>,
  ): void {
    if (!Number.isFinite(value)) return this.#refuse("invalid");
    const number = this.#sum(row, attributes);
    if (number === undefined) return;
    const cell = this.table.columns.slab.record(
      this.table.columns.value[number] ?? 0,
      row.bounds,
      value,
    );
    if (!row.exemplars) return;
    const trace = this.#deps.trace?.();
    if (trace !== undefined)
      this.table.setExemplar(cell, { ...trace, value, timeMs: this.#deps.clock.now() });
  }

  end<A extends string>(row: Row<A, Kind>, attributes: Values<NoInfer<A>>): boolean {
    const number = this.table.index(row).sole(attributes);
    if (number === undefined) return false;
    this.table.end(number);
    return true;
  }

  sweep(owner: string, options: SweepOptions = {}): Sweep {
    return this.#owners.sweep(owner, options);
  }

  log<A extends string>(
    row: LogRow<A>,
    body: string,
    attributes: Values<NoInfer<A>>,
    options: LogOptions = {},
  ): void {
    if (this.#closed) return;
    const shown = this.#redacted(row, {
      ...options,
      body,
      attributes,
      timeMs: options.timeMs ?? this.#deps.clock.now(),
    });
    if (shown) this.#deps.log(row as unknown as LogRow<string>, () => shown);
  }

  logLazily<A extends string>(row: LogRow<A>, make: () => LazyLog<A>): void {
    if (this.#closed) return;
    this.#deps.log(row as unknown as LogRow<string>, () => this.#redacted(row, make()));
  }

  span(make: () => Omit<WireSpan, "scope">): void {
    if (!this.#closed) this.#deps.span(make);
  }

  observe(collect: () => void): Disposable {
    // The same function may be registered twice; each registration is disposed on its own.
    const observer = (): void => collect();
    this.#observers.add(observer);
    return { [Symbol.dispose]: () => void this.#observers.delete(observer) };
  }

  series(row: AnyRow): number {
    return this.table.index(row).size;
  }

  cardinality(): CardinalityInfo {
    const refused: Refused = { ...this.#refused };
    return {
      series: this.table.live,
      limitPerMetric: this.#perMetric,
      refused,
      metrics: this.table.metrics(),
    };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#observers.clear();
    this.table.endAll();
    this.#deps.closed();
  }

  /**
   * The current columns, after observers have run and idle series have ended. `labels` is called in
   * between.
   */
  snapshot(labels: () => void): Columns {
    for (const observer of this.#observers) observer();
    this.tidy();
    labels();
    return this.table.snapshot();
  }

  /** Ends idle and stale series; at most every 10 s. */
  tidy(): void {
    const now = this.#deps.clock.monotonic();
    if (now - this.#tidiedAtMs < HOUSEKEEPING_MS) return;
    this.#tidiedAtMs = now;
    this.#owners.endStale();
    for (const index of this.table.indexes())
      if (index.row.idleMs !== undefined) this.#endIdle(index, (now - index.row.idleMs) / 1000);
  }

  #endIdle(index: RowIndex, beforeSecond: number): void {
    const { mark } = this.table.columns;
    const idle = [...index.numbers()].filter((number) => (mark[number] ?? 0) < beforeSecond);
    for (const number of idle) this.table.end(number);
  }

  #setGauge(row: AnyRow, value: number, attributes: Given): number {
    if (Number.isNaN(value)) {
      this.#refuse("invalid");
      return SUPPRESSED;
    }
    if (this.#closed) return SUPPRESSED;
    const number = this.table.index(row).find(attributes);
    if (number >= 0) this.table.columns.value[number] = value;
    else this.#refuse(number === SUPPRESSED ? "suppressed" : "limit");
    return number;
  }

  /** The series number of a sum or histogram; records the time of writing. */
  #sum(row: AnyRow, attributes: Given): number | undefined {
    if (this.#closed) return undefined;
    const index = this.table.index(row);
    const number = index.find(attributes);
    if (number < 0) {
      this.#refuse(number === SUPPRESSED ? "suppressed" : "limit");
      return undefined;
    }
    if (number === index.overflow) this.#refuse("overflowed");
    this.table.columns.mark[number] = Math.floor(this.#deps.clock.monotonic() / 1000);
    return number;
  }

  #redacted(row: AnyLogRow, fields: LogFields): LogFields | undefined {
    return this.spec.redact?.log ? this.spec.redact.log(row, fields) : fields;
  }

  #refuse(reason: keyof Refused): void {
    this.#refused[reason] += 1;
  }
}
