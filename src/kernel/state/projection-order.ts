/**
 * The rows of a list in the order of one column, kept while rows change: changed ones wait in a short line and are merged in
 * when it is full or the order is asked for. So no query sorts more than the line.
 */

/** How many may wait: some, and more in a long list, where a merge costs more. */
const WAITING_LEAST = 1_024;
const WAITING_SHARE = 1 / 128;

/** The slots 0, 1, 2 … of a list, ascending. */
export class SlotOrder {
  /** Total: no two slots are equal. */
  readonly #compare: (left: number, right: number) => number;
  /** The first `#count` of it. */
  #order = new Uint32Array(WAITING_LEAST);
  #count = 0;
  #waiting: number[] = [];
  /** By slot: 1 while it waits. */
  #marks: Uint8Array<ArrayBuffer> = new Uint8Array(WAITING_LEAST);

  constructor(compare: (left: number, right: number) => number) {
    this.#compare = compare;
  }

  /** The slot is new, has another value, or is no more. */
  touch(slot: number): void {
    if (slot >= this.#marks.length) this.#widen(slot);
    if (this.#marks[slot] === 1) return;
    this.#marks[slot] = 1;
    this.#waiting.push(slot);
  }

  /** Merges when the line is full; to be called when the list has its values. */
  tidy(size: number): void {
    if (this.#waiting.length > WAITING_LEAST + size * WAITING_SHARE) this.slots(size);
  }

  /** All slots below `size` in order. Valid until the next change, and not to be changed. */
  slots(size: number): Uint32Array {
    if (this.#waiting.length > 0) {
      const fresh = Uint32Array.from(this.#waiting.filter((slot) => slot < size)).sort(this.#compare);
      this.#forgetStale(size);
      for (const slot of this.#waiting) this.#marks[slot] = 0;
      this.#waiting = [];
      this.#merge(fresh);
    }
    return this.#order.subarray(0, this.#count);
  }

  #forgetStale(size: number): void {
    const [marks, order] = [this.#marks, this.#order];
    let count = 0;
    for (let at = 0; at < this.#count; at += 1) {
      const slot = order[at] ?? 0;
      if (slot < size && marks[slot] === 0) order[count++] = slot;
    }
    this.#count = count;
  }

  // From the end, so that all stays in one array: the places of the few are searched, what lies between moves in blocks.
  #merge(fresh: Uint32Array): void {
    const count = this.#count + fresh.length;
    if (count > this.#order.length) {
      const wider = new Uint32Array(count + count / 2);
      wider.set(this.#order.subarray(0, this.#count));
      this.#order = wider;
    }
    let end = this.#count;
    for (let index = fresh.length - 1; index >= 0; index -= 1) {
      const slot = fresh[index] ?? 0;
      const place = this.#placeOf(slot, end);
      this.#order.copyWithin(place + index + 1, place, end);
      this.#order[place + index] = slot;
      end = place;
    }
    this.#count = count;
  }

  /** How many of the first `end` stand before the slot. */
  #placeOf(slot: number, end: number): number {
    let [low, high] = [0, end];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(this.#order[middle] ?? 0, slot) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #widen(slot: number): void {
    const wider = new Uint8Array(Math.max(slot + 1, this.#marks.length * 2));
    wider.set(this.#marks);
    this.#marks = wider;
  }
}
