/**
 * Keys that were seen lately, the oldest forgotten first, each with some numbers that came with it.
 */

/** A ring of keys and a map into it. */
export class SeenKeys {
  readonly capacity: number;
  readonly #slots = new Map<string, number>();
  readonly #keys: string[] = [];
  readonly #columns: Float64Array;
  readonly #width: number;
  #next = 0;
  #hits = 0;
  #evictions = 0;

  /** `width`: numbers kept with each key. */
  constructor(capacity: number, width = 0) {
    this.capacity = capacity;
    this.#width = width;
    this.#columns = new Float64Array(capacity * width);
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Keys that were asked for and were there, and those that gave way to newer ones. */
  get counts(): { readonly hits: number; readonly evictions: number } {
    return { hits: this.#hits, evictions: this.#evictions };
  }

  /** Where the key's numbers are; undefined when it was not seen. */
  find(key: string): number | undefined {
    return this.#slots.get(key);
  }

  /** A key that was found counts as a hit when it kept something from being counted twice. */
  hit(): void {
    this.#hits += 1;
  }

  /** Remembers a key that is not there yet. */
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

  /** A number of what `find` found. */
  number(slot: number, column: number): number {
    return this.#columns[slot * this.#width + column] ?? 0;
  }
}
