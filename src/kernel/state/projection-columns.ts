/** The columns of a list in memory: numbers, names by their code in a dictionary, sets of names, and lower-cased text. */
import { assert } from "../base/errors.ts";
import { narrowedToBounds, narrowedToCodes, narrowedToPart, narrowedToSet, wantedOf } from "./projection-conditions.ts";
import type { Condition } from "./projection-conditions.ts";
import { compareText, createDictionary } from "./projection-dictionary.ts";
import { SlotOrder } from "./projection-order.ts";

/** How a column is filled from a row. */
export type Column<R> =
  | { readonly kind: "number"; readonly of: (row: R) => number | undefined }
  /** A name of few different ones. */
  | { readonly kind: "name"; readonly of: (row: R) => string | undefined }
  /** Several such names. */
  | { readonly kind: "names"; readonly of: (row: R) => readonly string[] }
  /** Text that differs from row to row. */
  | { readonly kind: "text"; readonly of: (row: R) => string };

/** A condition made ready for one query. */
export interface Test {
  /** Leaves the slots that meet it at the front of the list and gives how many. A loop of its own for each kind: a call for each row would cost more than the test. */
  readonly narrow: (slots: Uint32Array) => number;
  /** Cheaper ones go first. */
  readonly cost: number;
}

/** How a column sorts in one query. */
export interface Sorting {
  /** Sorts rows ascending by this number. */
  readonly key: (slot: number) => number;
  /** Tells rows of the same key apart. */
  readonly tie: ((left: number, right: number) => number) | undefined;
}

/** Ascending order of a column; rows without a value come last. */
export interface Ascending {
  compare(left: number, right: number): number;
  isMissing(slot: number): boolean;
  /** The slots below `size` in this order, equal ones by their row number. Valid until the next change, and not to be changed. */
  slots(size: number): Uint32Array;
  /** Lets the order follow after a change. */
  tidy(size: number): void;
}

/** A column in memory, by slot. */
export interface ColumnStore<R> {
  put(slot: number, row: R): void;
  /** Moves a slot's value to another slot and forgets it where it was; both may be the same. */
  take(from: number, to: number): void;
  widen(capacity: number): void;
  test(condition: Condition): Test;
  sorting(descending: boolean): Sorting;
  /** Undefined for a column that does not sort. */
  readonly ascending: Ascending | undefined;
}

/** What a column is made with. */
export interface ColumnOptions {
  readonly capacity: number;
  /** The row number of a slot. */
  readonly numberOf: (slot: number) => number;
}

/** An empty column. */
export function createColumn<R>(column: Column<R>, options: ColumnOptions): ColumnStore<R> {
  switch (column.kind) {
    case "number": return numbers(column.of, options);
    case "name": return names(column.of, options);
    case "names": return nameSets(column.of, options);
    case "text": return texts(column.of, options);
  }
}

function numbers<R>(of: (row: R) => number | undefined, { capacity, numberOf }: ColumnOptions): ColumnStore<R> {
  let values = new Float64Array(capacity);
  const valueOf = (slot: number): number => values[slot] ?? Number.NaN;
  const { ascending, order } = createAscending((left, right) => compareNumbers(valueOf(left), valueOf(right)), (slot) => Number.isNaN(valueOf(slot)), numberOf);
  return {
    ascending,
    put(slot, row) {
      values[slot] = of(row) ?? Number.NaN;
      order.touch(slot);
    },
    take(from, to) {
      values[to] = valueOf(from);
      order.touch(to);
    },
    widen: (wider) => void (values = widened(values, new Float64Array(wider))),
    test(condition) {
      const wanted = wantedOf(condition);
      if (wanted !== undefined) {
        const set = new Set(wanted);
        return { narrow: (slots) => narrowedToSet(slots, values, set), cost: 2 };
      }
      assert(!("contains" in condition), "a column of numbers contains no text");
      const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = condition as { from?: number; to?: number };
      return { narrow: (slots) => narrowedToBounds(slots, values, [from, to]), cost: 1 };
    },
    sorting: (descending) => ({ key: (slot) => lastIfMissing(values[slot] ?? Number.NaN, descending), tie: undefined }),
  };
}

function names<R>(of: (row: R) => string | undefined, { capacity, numberOf }: ColumnOptions): ColumnStore<R> {
  const dictionary = createDictionary();
  let codes = new Uint32Array(capacity);
  const codeOf = (slot: number): number => codes[slot] ?? 0;
  const { ascending, order } = createAscending((left, right) => dictionary.compare(codeOf(left), codeOf(right)), (slot) => codeOf(slot) === 0, numberOf);
  return {
    ascending,
    put(slot, row) {
      const name = of(row);
      codes[slot] = name === undefined ? 0 : dictionary.code(name);
      order.touch(slot);
    },
    take(from, to) {
      codes[to] = codeOf(from);
      order.touch(to);
    },
    widen: (wider) => void (codes = widened(codes, new Uint32Array(wider))),
    test(condition) {
      const wanted = dictionary.matching(condition);
      return { narrow: (slots) => narrowedToCodes(slots, codes, wanted), cost: 1 };
    },
    sorting(descending) {
      const ranks = dictionary.ranks();
      return { key: (slot) => lastIfMissing(ranks[codes[slot] ?? 0] ?? Number.NaN, descending), tie: undefined };
    },
  };
}

// Rows often share the same set, so a set has a code of its own in a second dictionary.
function nameSets<R>(of: (row: R) => readonly string[], { capacity }: ColumnOptions): ColumnStore<R> {
  const dictionary = createDictionary();
  const sets: (readonly number[])[] = [[]];
  const setCodes = new Map<string, number>([["", 0]]);
  let codes = new Uint32Array(capacity);
  const codeOf = (members: readonly number[]): number => {
    const id = members.join(",");
    const known = setCodes.get(id);
    if (known !== undefined) return known;
    setCodes.set(id, sets.length);
    return sets.push(members) - 1;
  };
  return {
    ascending: undefined,
    put: (slot, row) => void (codes[slot] = codeOf(of(row).map((name) => dictionary.code(name)))),
    take: (from, to) => void (codes[to] = codes[from] ?? 0),
    widen: (wider) => void (codes = widened(codes, new Uint32Array(wider))),
    test(condition) {
      const wanted = dictionary.matching(condition);
      const wantedSets = Uint8Array.from(sets, (members) => (members.some((code) => wanted[code] === 1) ? 1 : 0));
      return { narrow: (slots) => narrowedToCodes(slots, codes, wantedSets), cost: 1 };
    },
    sorting() {
      assert(false, "a list is not sorted by sets of names");
    },
  };
}

function texts<R>(of: (row: R) => string, { capacity, numberOf }: ColumnOptions): ColumnStore<R> {
  const values: string[] = [];
  let heads = new Float64Array(capacity);
  const textOf = (slot: number): string => values[slot] ?? "";
  const { ascending, order } = createAscending((left, right) => (heads[left] ?? 0) - (heads[right] ?? 0) || compareText(textOf(left), textOf(right)), () => false, numberOf);
  return {
    ascending,
    put(slot, row) {
      const text = of(row).toLowerCase();
      values[slot] = text;
      heads[slot] = headOf(text);
      order.touch(slot);
    },
    take(from, to) {
      values[to] = textOf(from);
      heads[to] = heads[from] ?? 0;
      values.length = from;
      order.touch(to);
    },
    widen: (wider) => void (heads = widened(heads, new Float64Array(wider))),
    test(condition) {
      assert("contains" in condition, "a column of text is searched with contains");
      const part = condition.contains.toLowerCase();
      return { narrow: (slots) => narrowedToPart(slots, values, part), cost: 10 };
    },
    sorting(descending) {
      const sign = descending ? -1 : 1;
      return {
        key: (slot) => sign * (heads[slot] ?? 0),
        tie: (left, right) => sign * compareText(textOf(left), textOf(right)),
      };
    },
  };
}

function createAscending(compare: Ascending["compare"], isMissing: Ascending["isMissing"], numberOf: (slot: number) => number): { ascending: Ascending; order: SlotOrder } {
  const order = new SlotOrder((left, right) => compare(left, right) || numberOf(left) - numberOf(right));
  return { order, ascending: { compare, isMissing, slots: (size) => order.slots(size), tidy: (size) => order.tidy(size) } };
}

function lastIfMissing(value: number, descending: boolean): number {
  if (Number.isNaN(value)) return Number.POSITIVE_INFINITY;
  return descending ? -value : value;
}

/**
 * The first six units of a text as a number that never stands against the texts' order. From a unit on that does not fit a
 * byte, texts of the same number are left to be compared.
 */
function headOf(text: string): number {
  let head = 0;
  let open = true;
  for (let at = 0; at < 6; at += 1) {
    const unit: number = open && at < text.length ? Math.min(255, text.charCodeAt(at) + 1) : 0;
    open &&= unit < 255;
    head = head * 256 + unit;
  }
  return head;
}

function compareNumbers(left: number, right: number): number {
  if (left === right) return 0;
  return left < right || Number.isNaN(right) ? (Number.isNaN(left) && Number.isNaN(right) ? 0 : -1) : 1;
}

function widened<A extends Float64Array | Uint32Array>(from: A, wider: A): A {
  wider.set(from);
  return wider;
}
