/**
 * A list in memory (KERNEL §2, Lists): typed columns over the rows of a table, filled by one scan at open and changed after each
 * durable write. Each column that sorts keeps its order; a query narrows the rows down filter by filter, takes what is left in
 * the order of its first sort, and lets the other sorts settle only what reaches into the page.
 */
import { assert } from "../base/errors.ts";
import { createColumn } from "./projection-columns.ts";
import type { Column, ColumnStore } from "./projection-columns.ts";
import type { Condition } from "./projection-conditions.ts";
import { SlotOrder } from "./projection-order.ts";
import { cutPage } from "./projection-page.ts";
import type { Env, Table } from "./types.ts";

/** Conditions that must all hold. */
export type Filter<C extends string> = readonly ({ readonly column: C } & Condition)[];

/** What to sort by, the first first. Missing numbers and names come last either way; equal rows stand in order of the row number. */
export type Order<C extends string> = readonly { readonly column: C; readonly descending?: boolean }[];

/** One page: row numbers in order, and how many rows match in all. */
export interface ProjectedPage {
  readonly rows: Uint32Array;
  readonly total: number;
}

/** The list. Rows have numbers from 0 to 2^32 - 1. */
export interface Projection<R, C extends string = string> {
  /** Adds a row or takes over its changed columns. */
  put(number: number, row: R): void;
  /** Takes a row out; nothing happens when there is none. */
  remove(number: number): void;
  /** Throws `internal` for a condition that the kind of its column does not know. */
  select(filter: Filter<C>, order: Order<C>, page: { readonly offset: number; readonly limit: number }): ProjectedPage;
  readonly size: number;
}

const FIRST_CAPACITY = 1_024;

/** An empty list with these columns. */
export function createProjection<R, C extends string>(columns: Readonly<Record<C, Column<R>>>): Projection<R, C> {
  return new ColumnProjection(columns);
}

/** A list of all rows of a table, read in slices. Later changes are the caller's: `tx.after(() => projection.put(...))`. */
export async function openProjection<V, C extends string>(env: Env, table: Table<number, V>, columns: Readonly<Record<C, Column<V>>>, signal: AbortSignal): Promise<Projection<V, C>> {
  const projection = createProjection(columns);
  await env.scan(table, (batch) => {
    for (const [number, row] of batch) projection.put(number, row);
  }, { sliceMs: 5, signal });
  return projection;
}

class ColumnProjection<R, C extends string> implements Projection<R, C> {
  readonly #columns: ReadonlyMap<string, ColumnStore<R>>;
  readonly #slots = new Map<number, number>();
  #numbers = new Uint32Array(FIRST_CAPACITY);
  /** 0, 1, 2 …; what a query narrows down is a copy of it. Room of that size is kept: to ask for it anew each time calls the garbage collector. */
  #all = Uint32Array.from({ length: FIRST_CAPACITY }, (_, slot) => slot);
  #left = new Uint32Array(FIRST_CAPACITY);
  /** By slot: 1 for what is left, while a query takes it in order. */
  #kept = new Uint8Array(FIRST_CAPACITY);
  readonly #byNumber = new SlotOrder((left, right) => this.#number(left) - this.#number(right));

  constructor(columns: Readonly<Record<C, Column<R>>>) {
    const options = { capacity: FIRST_CAPACITY, numberOf: (slot: number) => this.#number(slot) };
    this.#columns = new Map(Object.entries<Column<R>>(columns).map(([name, column]) => [name, createColumn(column, options)]));
  }

  get size(): number {
    return this.#slots.size;
  }

  put(number: number, row: R): void {
    assert(Number.isInteger(number) && number >= 0 && number < 2 ** 32, "a row of a list has a number of 32 bits");
    const slot = this.#slots.get(number) ?? this.#append(number);
    for (const column of this.#columns.values()) column.put(slot, row);
    this.#tidy();
  }

  remove(number: number): void {
    const slot = this.#slots.get(number);
    if (slot === undefined) return;
    const last = this.#slots.size - 1;
    this.#slots.delete(number);
    const moved = this.#number(last);
    this.#numbers[slot] = moved;
    for (const column of this.#columns.values()) column.take(last, slot);
    this.#byNumber.touch(slot);
    if (slot !== last) this.#slots.set(moved, slot);
    this.#tidy();
  }

  select(filter: Filter<C>, order: Order<C>, page: { readonly offset: number; readonly limit: number }): ProjectedPage {
    const left = this.#filtered(filter);
    const total = left?.length ?? this.size;
    const offset = Math.min(page.offset, total);
    const bounds = { from: offset, to: Math.min(total, offset + page.limit), numbers: this.#numbers };
    const [first, ...rest] = order.map(({ column, descending = false }) => ({ store: this.#column(column), descending }));
    let slots: Uint32Array;
    if (first === undefined) slots = this.#inOrder(this.#byNumber.slots(this.size), left).slice(bounds.from, bounds.to);
    else {
      const { ascending } = first.store;
      assert(ascending !== undefined, "a list is not sorted by sets of names");
      const sorting = { ...first.store.sorting(first.descending), ...ascending };
      slots = cutPage(this.#inOrder(ascending.slots(this.size), left), { ...bounds, first: sorting, descending: first.descending, rest: rest.map(({ store, descending }) => store.sorting(descending)) });
    }
    return { rows: slots.map((slot) => this.#number(slot)), total };
  }

  /** What meets all conditions; undefined when there are none. */
  #filtered(filter: Filter<C>): Uint32Array | undefined {
    if (filter.length === 0) return undefined;
    const tests = filter.map((condition) => this.#column(condition.column).test(condition)).sort((one, other) => one.cost - other.cost);
    let left = this.#left.subarray(0, this.size);
    left.set(this.#all.subarray(0, this.size));
    for (const { narrow } of tests) left = left.subarray(0, narrow(left));
    return left;
  }

  #inOrder(ordered: Uint32Array, left: Uint32Array | undefined): Uint32Array {
    if (left === undefined) return ordered;
    const kept = this.#kept.fill(0);
    for (let at = 0; at < left.length; at += 1) kept[left[at] ?? 0] = 1;
    let count = 0;
    for (let at = 0; count < left.length; at += 1) {
      const slot = ordered[at] ?? 0;
      if (kept[slot] === 1) left[count++] = slot;
    }
    return left;
  }

  #tidy(): void {
    for (const { ascending } of this.#columns.values()) ascending?.tidy(this.size);
    this.#byNumber.tidy(this.size);
  }

  #append(number: number): number {
    const slot = this.#slots.size;
    if (slot === this.#numbers.length) this.#widen(slot * 2);
    this.#numbers[slot] = number;
    this.#slots.set(number, slot);
    this.#byNumber.touch(slot);
    return slot;
  }

  #widen(capacity: number): void {
    const numbers = new Uint32Array(capacity);
    numbers.set(this.#numbers);
    this.#numbers = numbers;
    const all = new Uint32Array(capacity);
    all.set(this.#all);
    for (let slot = this.#all.length; slot < capacity; slot += 1) all[slot] = slot;
    this.#all = all;
    this.#left = new Uint32Array(capacity);
    this.#kept = new Uint8Array(capacity);
    for (const column of this.#columns.values()) column.widen(capacity);
  }

  #number(slot: number): number {
    return this.#numbers[slot] ?? 0;
  }

  #column(name: string): ColumnStore<R> {
    const column = this.#columns.get(name);
    assert(column !== undefined, `the list has a column ${name}`);
    return column;
  }
}
