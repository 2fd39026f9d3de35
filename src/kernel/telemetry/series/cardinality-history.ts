/**
 * History of series counts: one sample per interval, the last 60, for the growth chart of the
 * status page.
 */
import type { CardinalityInfo } from "../types.ts";

const CARDINALITY_SAMPLES = 60;

/** Telemetry's own metrics about series are excluded, or each would create another. */
export const SERIES_PREFIX = "svc.series.";

export interface CardinalityGrowth {
  /** Series of all metrics at each sample, oldest first. */
  readonly totals: readonly number[];
  /** The same for each metric that had series in one of the samples. */
  readonly metrics: readonly { readonly name: string; readonly series: readonly number[] }[];
}

export class CardinalityHistory {
  readonly #limit: number;
  #totals: number[] = [];
  #samples: ReadonlyMap<string, number>[] = [];

  constructor(limit: number = CARDINALITY_SAMPLES) {
    this.#limit = limit;
  }

  /** Takes one sample; counts of the same metric in several scopes are added. */
  sample(infos: readonly CardinalityInfo[]): void {
    const counts = new Map<string, number>();
    for (const { metrics } of infos)
      for (const { name, series } of metrics)
        if (series > 0 && !name.startsWith(SERIES_PREFIX))
          counts.set(name, (counts.get(name) ?? 0) + series);
    this.#samples = [...this.#samples, counts].slice(-this.#limit);
    this.#totals = [
      ...this.#totals,
      [...counts.values()].reduce((sum, count) => sum + count, 0),
    ].slice(-this.#limit);
  }

  view(): CardinalityGrowth {
    const names = new Set(this.#samples.flatMap((sample) => [...sample.keys()]));
    return {
      totals: [...this.#totals],
      metrics: [...names]
        .toSorted()
        .map((name) => ({ name, series: this.#samples.map((sample) => sample.get(name) ?? 0) })),
    };
  }
}
