/**
 * Maps the attributes of a measurement to its series number, for one metric of one scope. A known
 * combination costs one string and one lookup; redaction and limits are evaluated only for new
 * ones.
 */
import { boundName } from "../../base/text/bounded-name.ts";
import type { AnyRow, AttributeValue, LabelCardinality, Redaction } from "../types.ts";
import { labelKey, parseLabelKey } from "./label-key.ts";
import type { KeyMaker } from "./label-key.ts";
import { LabelValues } from "./label-values.ts";

/** Instead of a number: redaction suppresses the series. */
export const SUPPRESSED = -1;
/** Instead of a number: a gauge beyond the limit. */
const DROPPED = -2;

const DEFAULT_LIMIT = 10_000;
/** Combinations remembered per allowed series. */
const SEEN_PER_SERIES = 4;

export interface SeriesAllocator {
  /**
   * The number of a new series; undefined at the process-wide ceiling. `overflow` series are always
   * allocated.
   */
  allocate(
    index: RowIndex,
    values: readonly (AttributeValue | undefined)[] | "overflow",
    key: string,
  ): number | undefined;
}

export class RowIndex {
  readonly row: AnyRow;
  readonly rowNumber: number;
  readonly #allocator: SeriesAllocator;
  readonly #keys: KeyMaker;
  readonly #redact: Redaction | undefined;
  readonly #limit: number;
  readonly #seenLimit: number;
  /** Redacted key to number. */
  readonly #series = new Map<string, number>();
  /**
   * Raw key to number, SUPPRESSED, DROPPED or the overflow series; without redaction only the
   * latter two.
   */
  readonly #seen = new Map<string, number>();
  /** Raw keys that redaction mapped to a series; forgotten with it. */
  readonly #rawKeys = new Map<number, string[]>();
  /** Raw keys rejected by the limit; evaluated again when a series ends. */
  readonly #turnedAway: string[] = [];
  /** One per attribute; empty when no examples are kept. */
  readonly #labels: readonly LabelValues[];
  #overflow: number | undefined;

  constructor(
    row: AnyRow,
    rowNumber: number,
    options: {
      allocator: SeriesAllocator;
      /** Shared by the metrics of a scope. */ keys: KeyMaker;
      redact: Redaction | undefined;
      perMetric: number;
      labelValues: number;
    },
  ) {
    this.row = row;
    this.rowNumber = rowNumber;
    this.#allocator = options.allocator;
    this.#keys = options.keys;
    this.#redact = options.redact;
    this.#limit = options.perMetric > 0 ? options.perMetric : Number.POSITIVE_INFINITY;
    this.#labels =
      options.labelValues > 0
        ? row.attributes.map((name) => new LabelValues(name, options.labelValues))
        : [];
    this.#seenLimit = SEEN_PER_SERIES * (options.perMetric > 0 ? options.perMetric : DEFAULT_LIMIT);
  }

  /** Live series, the overflow series not counted. */
  get size(): number {
    return this.#series.size;
  }

  get overflow(): number | undefined {
    return this.#overflow;
  }

  /** Whether combinations were rejected since a series last ended. */
  get overflowing(): boolean {
    return this.#turnedAway.length > 0;
  }

  /** Example values of each attribute. */
  labels(): readonly LabelCardinality[] {
    return this.#labels.map((values) => values.view());
  }

  numbers(): IterableIterator<number> {
    return this.#series.values();
  }

  /** The number for these values, allocated if necessary, or SUPPRESSED or DROPPED. */
  find(attributes: Readonly<Record<string, AttributeValue | undefined>>): number {
    const raw = valuesOf(this.row, attributes);
    const key = this.#keys.keyOf(raw);
    const known = this.#known(key);
    return known ?? this.#miss(key, raw);
  }

  /** The number of a series that no other combination was merged into. */
  sole(attributes: Readonly<Record<string, AttributeValue | undefined>>): number | undefined {
    const known = this.#known(labelKey(valuesOf(this.row, attributes)));
    if (known === undefined || known < 0 || known === this.#overflow) return undefined;
    return (this.#rawKeys.get(known)?.length ?? 1) === 1 ? known : undefined;
  }

  /** Called when the series has ended. */
  forget(number: number, finalKey: string): void {
    if (number === this.#overflow) this.#overflow = undefined;
    else if (this.#series.delete(finalKey)) this.#endLabels(finalKey);
    for (const raw of this.#rawKeys.get(number) ?? []) this.#seen.delete(raw);
    this.#rawKeys.delete(number);
    for (const raw of this.#turnedAway.splice(0)) this.#seen.delete(raw);
  }

  #known(key: string): number | undefined {
    return this.#redact === undefined
      ? (this.#series.get(key) ?? this.#seen.get(key))
      : this.#seen.get(key);
  }

  #miss(rawKey: string, raw: readonly (AttributeValue | undefined)[]): number {
    const shown = this.#redact === undefined ? raw : this.#redact.metric(this.row, raw);
    if (shown === "suppress") return this.#remember(rawKey, SUPPRESSED);
    const key = this.#redact === undefined ? rawKey : labelKey(shown);
    const number = this.#series.get(key) ?? this.#bear(key, shown);
    if (number === undefined) return this.#turnAway(rawKey);
    if (this.#redact !== undefined) this.#rememberMerged(rawKey, number);
    return number;
  }

  #bear(key: string, values: readonly (AttributeValue | undefined)[]): number | undefined {
    if (this.#series.size >= this.#limit) return undefined;
    const number = this.#allocator.allocate(this, values, key);
    if (number === undefined) return undefined;
    this.#series.set(key, number);
    // From the values themselves: all metrics of an entity share these strings, whereas slices of
    // the key would be new ones.
    for (const [at, label] of this.#labels.entries()) {
      const value = values[at];
      if (value !== undefined) label.add(String(value));
    }
    return number;
  }

  #endLabels(key: string): void {
    if (this.#labels.length === 0) return;
    for (const [at, value] of parseLabelKey(key).entries())
      if (value !== null) this.#labels[at]?.remove(value);
  }

  #turnAway(rawKey: string): number {
    if (this.row.kind !== "gauge")
      this.#overflow ??= this.#allocator.allocate(this, "overflow", "overflow");
    const number = this.row.kind === "gauge" ? DROPPED : (this.#overflow ?? DROPPED);
    if (this.#seen.size < this.#seenLimit) this.#turnedAway.push(rawKey);
    return this.#remember(rawKey, number);
  }

  #rememberMerged(rawKey: string, number: number): void {
    if (this.#seen.size >= this.#seenLimit) return;
    this.#seen.set(rawKey, number);
    const keys = this.#rawKeys.get(number);
    if (keys) keys.push(rawKey);
    else this.#rawKeys.set(number, [rawKey]);
  }

  #remember(rawKey: string, number: number): number {
    if (this.#seen.size < this.#seenLimit) this.#seen.set(rawKey, number);
    return number;
  }
}

/**
 * In the order of the row's attributes. Bounds text lengths, for all measurements of all scopes.
 */
function valuesOf(
  row: AnyRow,
  attributes: Readonly<Record<string, AttributeValue | undefined>>,
): (AttributeValue | undefined)[] {
  return row.attributes.map((name) => {
    const value = attributes[name];
    return typeof value === "string" ? boundName(value) : value;
  });
}
