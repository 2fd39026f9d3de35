/** Bounded FIFO set of keys, each with a fixed number of numeric values. */

/** A ring buffer with an index. */
export class SeenKeys {
  readonly capacity: number;
  readonly #slots = new Map<string, number>();
  readonly #keys: string[] = [];
  readonly #columns: Float64Array;
  readonly #width: number;
  #next = 0;
  #hits = 0;
  #evictions = 0;

  /** `width`: numbers stored per key. */
  constructor(capacity: number, width = 0) {
    this.capacity = capacity;
    this.#width = width;
    this.#columns = new Float64Array(capacity * width);
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Lookups that hit, and evictions. */
  get counts(): { readonly hits: number; readonly evictions: number } {
    return { hits: this.#hits, evictions: this.#evictions };
  }

  /** Slot of the key's numbers; undefined when absent. */
  find(key: string): number | undefined {
    return this.#slots.get(key);
  }

  /** Counts a hit that prevented a duplicate. */
  hit(): void {
    this.#hits += 1;
  }

  /** Adds a key that is not present. */
  add(key: string, numbers: readonly number[] = []): void {
    const slot = this.#next;
    this.#next = slot + 1 === this.capacity ? 0 : slot + 1;
    const oldest = this.#keys[slot];
    if (oldest !== undefined) {
      this.#slots.delete(oldest);
      this.#evictions += 1;
    }
    this.#keys[slot] = key;
    this.#slots.set(key, slot);
    for (let at = 0; at < this.#width; at++)
      this.#columns[slot * this.#width + at] = numbers[at] ?? 0;
  }

  /** A number of a slot that `find` returned. */
  number(slot: number, column: number): number {
    return this.#columns[slot * this.#width + column] ?? 0;
  }
}
