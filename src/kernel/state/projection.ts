/**
 * A list in memory (KERNEL §2, Lists): typed columns over the rows of a table, filled by one scan at open and changed after each
 * durable write. A query narrows the rows down filter by filter and then sorts only the page that is asked for, so its time
 * grows with the rows and not with their order.
 */
import { assert } from "../base/errors.ts";
import { createColumn } from "./projection-columns.ts";
import type { Column, ColumnStore, Condition } from "./projection-columns.ts";
import { selectWindow } from "./projection-sort.ts";
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

  constructor(columns: Readonly<Record<C, Column<R>>>) {
    this.#columns = new Map(Object.entries<Column<R>>(columns).map(([name, column]) => [name, createColumn(column, FIRST_CAPACITY)]));
  }

  get size(): number {
    return this.#slots.size;
  }

  put(number: number, row: R): void {
    assert(Number.isInteger(number) && number >= 0 && number < 2 ** 32, "a row of a list has a number of 32 bits");
    const slot = this.#slots.get(number) ?? this.#append(number);
    for (const column of this.#columns.values()) column.put(slot, row);
  }

  remove(number: number): void {
    const slot = this.#slots.get(number);
    if (slot === undefined) return;
    const last = this.#slots.size - 1;
    this.#slots.delete(number);
    for (const column of this.#columns.values()) column.take(last, slot);
    if (slot === last) return;
    const moved = this.#numbers[last] ?? 0;
    this.#numbers[slot] = moved;
    this.#slots.set(moved, slot);
  }

  select(filter: Filter<C>, order: Order<C>, page: { readonly offset: number; readonly limit: number }): ProjectedPage {
    const tests = filter.map((condition) => this.#column(condition.column).test(condition)).sort((one, other) => one.cost - other.cost);
    let left = new Uint32Array(this.size);
    for (let slot = 0; slot < left.length; slot += 1) left[slot] = slot;
    for (const { keep } of tests) left = narrowed(left, keep);
    const total = left.length;
    const offset = Math.min(page.offset, total);
    const sorts = order.map(({ column, descending = false }) => this.#column(column).sorting(descending));
    const window = selectWindow(left, { from: offset, to: Math.min(total, offset + page.limit), sorts, numbers: this.#numbers });
    return { rows: window.map((slot) => this.#numbers[slot] ?? 0), total };
  }

  #append(number: number): number {
    const slot = this.#slots.size;
    if (slot === this.#numbers.length) {
      const wider = new Uint32Array(slot * 2);
      wider.set(this.#numbers);
      this.#numbers = wider;
      for (const column of this.#columns.values()) column.widen(slot * 2);
    }
    this.#numbers[slot] = number;
    this.#slots.set(number, slot);
    return slot;
  }

  #column(name: string): ColumnStore<R> {
    const column = this.#columns.get(name);
    assert(column !== undefined, `the list has a column ${name}`);
    return column;
  }
}

/** The slots that are kept, in place. */
function narrowed(slots: Uint32Array<ArrayBuffer>, keep: (slot: number) => boolean): Uint32Array<ArrayBuffer> {
  let count = 0;
  for (let at = 0; at < slots.length; at += 1) {
    const slot = slots[at] ?? 0;
    if (keep(slot)) slots[count++] = slot;
  }
  return slots.subarray(0, count);
}
