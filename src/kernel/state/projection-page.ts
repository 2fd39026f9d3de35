/**
 * Cuts a page out of rows that are in the ascending order of the first sort. The other sorts only settle the rows that this one
 * leaves equal, and only those that reach into the page.
 */
import type { Ascending, Sorting } from "./projection-columns.ts";
import { selectWindow } from "./projection-sort.ts";

type First = Sorting & Pick<Ascending, "compare" | "isMissing">;

/** Which page of which order. */
export interface PageOptions {
  /** What the rows are in the order of, and by their number among equals. */
  readonly first: First;
  readonly descending: boolean;
  readonly rest: readonly Sorting[];
  readonly from: number;
  /** Exclusive, at most the number of rows. */
  readonly to: number;
  /** Row numbers by slot; they settle what the sorts leave equal, ascending. */
  readonly numbers: Uint32Array;
}

/** The slots at places `from` to `to` of the sorted rows. */
export function cutPage(ascending: Uint32Array, options: PageOptions): Uint32Array {
  const { first, rest, descending, from, to, numbers } = options;
  if (from >= to) return new Uint32Array(0);
  if (!descending && rest.length === 0) return ascending.slice(from, to);
  const places = new Places(ascending, first, descending);
  if (rest.length === 0) return places.byNumber(from, to);
  const start = places.startOf(from);
  const group = places.slots(start, places.endOf(to - 1));
  return selectWindow(group, { from: from - start, to: to - start, sorts: [first, ...rest], numbers });
}

/** Places in the wanted direction; rows without a value stand last in both. */
class Places {
  readonly #ascending: Uint32Array;
  readonly #first: First;
  readonly #descending: boolean;
  /** Rows with a value. */
  readonly #valued: number;

  constructor(ascending: Uint32Array, first: First, descending: boolean) {
    this.#ascending = ascending;
    this.#first = first;
    this.#descending = descending;
    this.#valued = descending ? this.#search(0, ascending.length, (slot) => first.isMissing(slot)) : ascending.length;
  }

  /** The first place of the group of equal rows that a place belongs to. */
  startOf(place: number): number {
    if (!this.#descending || place >= this.#valued) return this.#search(0, place, (slot) => this.#isEqual(slot, place));
    return this.#valued - this.#search(this.#valued - place, this.#valued, (slot) => !this.#isEqual(slot, place));
  }

  /** The place after that group. */
  endOf(place: number): number {
    if (!this.#descending || place >= this.#valued) return this.#search(place, this.#ascending.length, (slot) => !this.#isEqual(slot, place));
    return this.#valued - this.#search(0, this.#valued - place, (slot) => this.#isEqual(slot, place));
  }

  /** A copy, in any order. */
  slots(start: number, end: number): Uint32Array {
    if (!this.#descending || start >= this.#valued) return this.#ascending.slice(start, end);
    const valued = this.#ascending.slice(Math.max(0, this.#valued - end), this.#valued - start);
    return end <= this.#valued ? valued : concatenated(valued, this.#ascending.subarray(this.#valued, end));
  }

  /** The slots of a span when nothing but the row number tells equal ones apart: each group stands the other way round. */
  byNumber(start: number, end: number): Uint32Array {
    const slots = new Uint32Array(end - start);
    let group: readonly [number, number] = [0, 0];
    for (let place = start; place < end; place += 1) {
      if (place >= this.#valued) slots[place - start] = this.#ascending[place] ?? 0;
      else {
        if (place >= group[1]) group = [this.startOf(place), this.endOf(place)];
        slots[place - start] = this.#ascending[this.#valued - group[1] + place - group[0]] ?? 0;
      }
    }
    return slots;
  }

  #at(place: number): number {
    return this.#ascending[this.#descending && place < this.#valued ? this.#valued - 1 - place : place] ?? 0;
  }

  #isEqual(slot: number, place: number): boolean {
    return this.#first.compare(slot, this.#at(place)) === 0;
  }

  /** The first index from `low` on whose slot is `beyond`, which all behind it are, too; `high` when none is. */
  #search(low: number, high: number, beyond: (slot: number) => boolean): number {
    let [from, to] = [low, high];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if (beyond(this.#ascending[middle] ?? 0)) to = middle;
      else from = middle + 1;
    }
    return from;
  }
}

function concatenated(one: Uint32Array, other: Uint32Array): Uint32Array {
  const all = new Uint32Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}
