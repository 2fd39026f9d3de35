/** Sorts one page out of many rows: everything before the page and after it is told apart, but not sorted (quickselect). */
import type { Sorting } from "./projection-columns.ts";

/** Which page of which order. */
export interface WindowOptions {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
  readonly sorts: readonly Sorting[];
  /** Row numbers by slot; they settle what the sorts leave equal, ascending. */
  readonly numbers: Uint32Array;
}

/** The slots at places `from` to `to` of the sorted rows. Changes the order of `slots`. */
export function selectWindow(slots: Uint32Array, { from, to, sorts, numbers }: WindowOptions): Uint32Array {
  if (from >= to) return slots.subarray(0, 0);
  const rows = new Rows(slots, sorts, numbers);
  if (from > 0) rows.settle(0, slots.length - 1, from);
  if (to < slots.length) rows.settle(from, slots.length - 1, to);
  return slots.subarray(from, to).sort(rows.compare);
}

class Rows {
  readonly #slots: Uint32Array;
  /** The first sort's key of each place, moved along with its slot. */
  readonly #keys: Float64Array;
  readonly #ties: (left: number, right: number) => number;
  readonly #key: (slot: number) => number;
  #seed = 1;

  constructor(slots: Uint32Array, sorts: readonly Sorting[], numbers: Uint32Array) {
    const [first, ...rest] = sorts;
    this.#slots = slots;
    this.#key = first?.key ?? ((slot) => numbers[slot] ?? 0);
    this.#keys = new Float64Array(slots.length);
    for (let place = 0; place < slots.length; place += 1) this.#keys[place] = this.#key(slots[place] ?? 0);
    this.#ties = (left, right) => {
      const tie = first?.tie?.(left, right) ?? 0;
      if (tie !== 0) return tie;
      for (const sort of rest) {
        const difference = compareNumbers(sort.key(left), sort.key(right)) || (sort.tie?.(left, right) ?? 0);
        if (difference !== 0) return difference;
      }
      return (numbers[left] ?? 0) - (numbers[right] ?? 0);
    };
  }

  readonly compare = (left: number, right: number): number => compareNumbers(this.#key(left), this.#key(right)) || this.#ties(left, right);

  /** Puts at place `rank` what belongs there, with nothing larger before and nothing smaller behind it, within the bounds. */
  settle(first: number, last: number, rank: number): void {
    let low = first;
    let high = last;
    while (low < high) {
      const [before, after] = this.#split(low, high);
      if (rank <= before) high = before;
      else if (rank >= after) low = after;
      else return;
    }
  }

  // Hoare's partition; the pivot's place is drawn, so that no order of rows is a bad one for long.
  #split(low: number, high: number): [number, number] {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    const at = low + (this.#seed % (high - low + 1));
    const key = this.#keys[at] ?? 0;
    const slot = this.#slots[at] ?? 0;
    let left = low;
    let right = high;
    while (left <= right) {
      while (this.#against(left, key, slot) < 0) left += 1;
      while (this.#against(right, key, slot) > 0) right -= 1;
      if (left > right) break;
      this.#swap(left, right);
      left += 1;
      right -= 1;
    }
    return [right, left];
  }

  #against(place: number, key: number, slot: number): number {
    const own = this.#keys[place] ?? 0;
    if (own !== key) return own < key ? -1 : 1;
    const other = this.#slots[place] ?? 0;
    return other === slot ? 0 : this.#ties(other, slot);
  }

  #swap(left: number, right: number): void {
    const slot = this.#slots[left] ?? 0;
    const key = this.#keys[left] ?? 0;
    this.#slots[left] = this.#slots[right] ?? 0;
    this.#keys[left] = this.#keys[right] ?? 0;
    this.#slots[right] = slot;
    this.#keys[right] = key;
  }
}

function compareNumbers(left: number, right: number): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
