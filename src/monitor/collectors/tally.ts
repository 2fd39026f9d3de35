/** Counts by attribute combination, for gauges such as `vpn.keys.count`. */
import type { AttributeValue } from "../../kernel/telemetry/types.ts";

/** In order of first occurrence. */
export class Tally<V extends Readonly<Record<string, AttributeValue | undefined>>> {
  readonly #counts = new Map<string, { readonly values: V; count: number }>();

  /** Adds one. Attributes must have the same order in each call. */
  add(values: V): void {
    const key = JSON.stringify(Object.values(values).map((value) => value ?? null));
    const entry = this.#counts.get(key);
    if (entry) entry.count += 1;
    else this.#counts.set(key, { values, count: 1 });
  }

  entries(): readonly { readonly values: V; readonly count: number }[] {
    return [...this.#counts.values()];
  }

  /**
   * The most frequent combinations, ties ordered by value, and the sum of the rest. 0 or less means
   * no limit.
   */
  top(limit: number): {
    readonly kept: readonly { readonly values: V; readonly count: number }[];
    readonly others: number;
  } {
    const sorted = [...this.#counts]
      .toSorted(
        ([left, { count }], [right, { count: other }]) => other - count || (left < right ? -1 : 1),
      )
      .map(([, entry]) => entry);
    const cut = limit <= 0 ? sorted.length : limit;
    return {
      kept: sorted.slice(0, cut),
      others: sorted.slice(cut).reduce((sum, { count }) => sum + count, 0),
    };
  }
}
