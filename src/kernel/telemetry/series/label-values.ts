/** Example values of a metric's attribute: counted when series start and end, bounded in number. */
import type { LabelCardinality } from "../types.ts";

export class LabelValues {
  readonly #name: string;
  readonly #limit: number;
  /** Value to the number of series that have it. */
  readonly #series = new Map<string, number>();
  #capped = false;

  constructor(name: string, limit: number) {
    this.#name = name;
    this.#limit = limit;
  }

  add(value: string): void {
    const series = this.#series.get(value);
    if (series === undefined && this.#series.size >= this.#limit) this.#capped = true;
    else this.#series.set(value, (series ?? 0) + 1);
  }

  /**
   * A value that was not admitted when its series started is unknown here or counted too low: this
   * is a sample.
   */
  remove(value: string): void {
    const series = this.#series.get(value);
    if (series === undefined) return;
    if (series > 1) this.#series.set(value, series - 1);
    else this.#series.delete(value);
    if (this.#series.size === 0) this.#capped = false;
  }

  view(): LabelCardinality {
    return {
      name: this.#name,
      distinct: this.#series.size,
      capped: this.#capped,
      examples: [...this.#series.keys()].toSorted(),
    };
  }
}
