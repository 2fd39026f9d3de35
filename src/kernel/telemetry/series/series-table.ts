/**
 * All series of one scope: created by their first measurement, ended by their owner, reported to
 * the telemetry thread. A number is reused only after that thread has acknowledged its end.
 */
import type { Columns, WireValues } from "../messages.ts";
import { LABELS_PER_MESSAGE } from "../messages.ts";
import type { AnyRow, AttributeValue, MetricCardinality, Redaction } from "../types.ts";
import type { Ceiling } from "./ceiling.ts";
import { NO_ROW, SeriesColumns } from "./columns.ts";
import { ExemplarSlots, type Exemplar } from "./exemplars.ts";
import { KeyMaker, parseLabelKey } from "./label-key.ts";
import { SERIES_PREFIX } from "./cardinality-history.ts";
import { RowIndex } from "./row-index.ts";

/** Series started and ended since the last drain. */
export interface LabelChanges {
  readonly started: readonly number[];
  readonly rows: readonly number[];
  readonly values: readonly WireValues[];
  readonly ended: readonly number[];
}

export interface SeriesTableOptions {
  readonly perMetric: number;
  /** Number of example values kept per attribute. */
  readonly labelValues: number;
  readonly redact: Redaction | undefined;
  readonly ceiling: Ceiling;
  /** The number by which the telemetry thread knows a row. */
  readonly rowNumber: (row: AnyRow) => number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Called when enough changes have accumulated for a message. */
  readonly due: () => void;
}

export class SeriesTable {
  readonly columns: SeriesColumns = new SeriesColumns();
  readonly #options: SeriesTableOptions;
  readonly #keyMaker: KeyMaker = new KeyMaker();
  readonly #indexes = new Map<AnyRow, RowIndex>();
  readonly #byRowNumber = new Map<number, RowIndex>();
  #exemplars: ExemplarSlots | undefined;
  /**
   * By number; without a key there is no series. Separate arrays instead of one of objects, which
   * cost 5 MB per 100,000 series.
   */
  readonly #keys: (string | undefined)[] = [];
  /** Only for series whose values are not all strings; otherwise the key holds them. */
  readonly #values = new Map<number, WireValues>();
  #started: number[] = [];
  #ended: number[] = [];
  #listening = false;
  #live = 0;

  constructor(options: SeriesTableOptions) {
    this.#options = options;
  }

  get live(): number {
    return this.#live;
  }

  index(row: AnyRow): RowIndex {
    const known = this.#indexes.get(row);
    if (known) return known;
    const { labelValues, redact } = this.#options;
    // One row per metric, bounded by the catalogue: metrics that report a limit must not hit it.
    const perMetric = row.name.startsWith(SERIES_PREFIX) ? 0 : this.#options.perMetric;
    const index = new RowIndex(row, this.#options.rowNumber(row), {
      allocator: { allocate: (...birth) => this.#allocate(...birth) },
      keys: this.#keyMaker,
      redact,
      perMetric,
      labelValues,
    });
    this.#indexes.set(row, index);
    this.#byRowNumber.set(index.rowNumber, index);
    return index;
  }

  indexes(): IterableIterator<RowIndex> {
    return this.#indexes.values();
  }

  /** The catalogue row of a live series. */
  rowOf(number: number): AnyRow | undefined {
    return this.#indexOf(number)?.row;
  }

  /** Ends a live series; a no-op when it has ended. */
  end(number: number): void {
    const key = this.#keys[number];
    const index = this.#indexOf(number);
    if (key === undefined || index === undefined) return;
    this.#keys[number] = undefined;
    this.#values.delete(number);
    if (index.row.kind === "histogram")
      this.#freeBuckets(this.columns.value[number] ?? 0, index.row.bounds.length);
    this.columns.retire(number);
    index.forget(number, key);
    this.#options.ceiling.remove(key.length);
    this.#live -= 1;
    if (!this.#listening) return this.columns.release(number);
    this.#ended.push(number);
    if (this.#ended.length >= LABELS_PER_MESSAGE) this.#options.due();
  }

  endAll(): void {
    for (const index of this.#indexes.values()) {
      for (const number of index.numbers()) this.end(number);
      if (index.overflow !== undefined) this.end(index.overflow);
    }
  }

  /** Stores the exemplar of a histogram bucket; `cell` comes from the slab. */
  setExemplar(cell: number, exemplar: Exemplar): void {
    this.#exemplars ??= new ExemplarSlots(this.#options.ceiling);
    this.#exemplars.set(cell, exemplar);
  }

  /**
   * Starts recording starts and ends for `drain`. Returns the live numbers, which the listener has
   * yet to receive.
   */
  attach(): number[] {
    this.#listening = true;
    this.#started = [];
    this.#ended = [];
    return this.#keys.flatMap((key, number) => (key === undefined ? [] : [number]));
  }

  /** Stops recording. `unacknowledged` are ended numbers that were sent but not acknowledged. */
  detach(unacknowledged: Iterable<number>): void {
    this.#listening = false;
    for (const number of unacknowledged) this.columns.release(number);
    for (const number of this.#ended) this.columns.release(number);
    this.#started = [];
    this.#ended = [];
  }

  /**
   * The changes since the last call. A series that started and ended in between is reported as
   * ended only.
   */
  drain(): LabelChanges | undefined {
    if (this.#started.length === 0 && this.#ended.length === 0) return undefined;
    const changes = { ...this.describe(this.#started), ended: this.#ended };
    this.#started = [];
    this.#ended = [];
    return changes;
  }

  /** The labels of those numbers that are live. */
  describe(numbers: readonly number[]): Omit<LabelChanges, "ended"> {
    const started = numbers.filter((number) => this.#keys[number] !== undefined);
    // One array for all metrics of an entity with the same values, so that it is cloned to the
    // other thread once.
    const lists = new Map<string, WireValues>();
    return {
      started,
      rows: started.map((number) => this.columns.row[number] ?? NO_ROW),
      values: started.map((number) => this.#valuesOf(number, lists)),
    };
  }

  snapshot(): Columns {
    return { ...this.columns.copy(), exemplars: this.#exemplars?.copy() };
  }

  metrics(): MetricCardinality[] {
    return [...this.#indexes.values()].map((index) => ({
      name: index.row.name,
      group: index.row.group,
      series: index.size,
      overflowing: index.overflowing,
      labels: () => index.labels(),
    }));
  }

  #allocate(
    index: RowIndex,
    values: readonly (AttributeValue | undefined)[] | "overflow",
    key: string,
  ): number | undefined {
    const { ceiling, now } = this.#options;
    if (values !== "overflow" && !ceiling.admits(key.length)) return undefined;
    const { row } = index;
    const number = this.columns.allocate(index.rowNumber, row.kind === "gauge" ? 0 : now());
    if (row.kind === "histogram")
      this.columns.value[number] = this.columns.slab.allocate(row.bounds.length);
    this.#keys[number] = key;
    const kept = keptValues(values);
    if (kept !== undefined) this.#values.set(number, kept);
    ceiling.add(key.length);
    this.#live += 1;
    if (this.#listening) this.#started.push(number);
    if (this.#started.length >= LABELS_PER_MESSAGE) this.#options.due();
    return number;
  }

  #freeBuckets(offset: number, bounds: number): void {
    this.columns.slab.free(offset, bounds);
    this.#exemplars?.release(offset, bounds + 1);
  }

  #indexOf(number: number): RowIndex | undefined {
    return this.#keys[number] === undefined
      ? undefined
      : this.#byRowNumber.get(this.columns.row[number] ?? NO_ROW);
  }

  #valuesOf(number: number, lists: Map<string, WireValues>): WireValues {
    const kept = this.#values.get(number);
    if (kept !== undefined) return kept;
    const key = this.#keys[number] ?? "";
    const known = lists.get(key);
    if (known !== undefined) return known;
    const values = parseLabelKey(key);
    lists.set(key, values);
    return values;
  }
}

/** The values, where the key does not represent them exactly. */
function keptValues(
  values: readonly (AttributeValue | undefined)[] | "overflow",
): WireValues | undefined {
  if (values === "overflow") return values;
  return values.every((value) => value === undefined || typeof value === "string")
    ? undefined
    : values.map((value) => value ?? null);
}
