/**
 * Bounds the memory of the minutes of all networks together: beyond the limit the oldest one is
 * reduced to its totals.
 */

/** The minutes of one network. */
export interface Reducible {
  /** Begin of the oldest minute that has entries; undefined without any. */
  oldestMs(): number | undefined;
  /** Returns how many entries were freed. */
  reduceOldest(): number;
}

export class EntryBudget {
  readonly #maxEntries: number;
  readonly #networks: Reducible[] = [];
  #entries = 0;

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries;
  }

  join(network: Reducible): void {
    this.#networks.push(network);
  }

  take(entries: number): void {
    this.#entries += entries;
    while (this.#entries > this.#maxEntries) {
      const oldest = this.#oldest();
      if (oldest === undefined) return;
      this.#entries -= oldest.reduceOldest();
    }
  }

  free(entries: number): void {
    this.#entries -= entries;
  }

  #oldest(): Reducible | undefined {
    let oldest: Reducible | undefined;
    let oldestMs = Number.POSITIVE_INFINITY;
    for (const network of this.#networks) {
      const beginMs = network.oldestMs() ?? Number.POSITIVE_INFINITY;
      if (beginMs >= oldestMs) continue;
      oldest = network;
      oldestMs = beginMs;
    }
    return oldest;
  }
}
