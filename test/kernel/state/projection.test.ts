import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createProjection, openProjection } from "../../../src/kernel/state/projection.ts";
import type { Filter, Order, Projection } from "../../../src/kernel/state/projection.ts";
import { dice } from "./fixtures/damage.ts";
import { numbers, openEnv, temporaryFolder } from "./fixtures/tables.ts";

interface Row {
  readonly age: number | undefined;
  readonly city: string | undefined;
  readonly tags: readonly string[];
  readonly title: string;
}

type Name = keyof Row;

function createList(): Projection<Row, Name> {
  return createProjection<Row, Name>({
    age: { kind: "number", of: (row) => row.age }, city: { kind: "name", of: (row) => row.city }, tags: { kind: "names", of: (row) => row.tags }, title: { kind: "text", of: (row) => row.title },
  });
}

const names = ["Rome", "rome", "Oslo", "Åre", ""];
const word = fc.oneof(fc.constantFrom(...names), fc.string({ unit: "binary", maxLength: 9 }), fc.constantFrom("invoice a", "invoice b", "Invoice B", "invoiceþ", "invoiceþz", "日本語", "日本"));
const row: fc.Arbitrary<Row> = fc.record({ age: fc.option(fc.integer({ min: -3, max: 3 }), { nil: undefined }), city: fc.option(fc.constantFrom(...names), { nil: undefined }), tags: fc.array(fc.constantFrom(...names), { maxLength: 3 }), title: word });
const change = fc.record({ number: fc.integer({ min: 0, max: 60 }), row: fc.option(row, { nil: undefined, freq: 4 }) });
const condition: fc.Arbitrary<Filter<Name>[number]> = fc.oneof(
  fc.record({ column: fc.constant("age" as const), equals: fc.integer({ min: -3, max: 3 }) }),
  fc.record({ column: fc.constant("age" as const), from: fc.integer({ min: -3, max: 3 }) }),
  fc.record({ column: fc.constant("age" as const), from: fc.integer({ min: -3, max: 0 }), to: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ column: fc.constantFrom("city" as const, "tags" as const), equals: fc.constantFrom(...names, "nowhere") }),
  fc.record({ column: fc.constantFrom("city" as const, "tags" as const), in: fc.array(fc.constantFrom(...names, "nowhere"), { maxLength: 3 }) }),
  fc.record({ column: fc.constantFrom("city" as const, "tags" as const, "title" as const), contains: fc.constantFrom("O", "o", "", "å", "voice") }),
);
const order = fc.array(fc.record({ column: fc.constantFrom("age" as const, "city" as const, "title" as const), descending: fc.boolean() }), { maxLength: 3 });

/** What a list says, computed the plain way. */
function expected(rows: ReadonlyMap<number, Row>, filter: Filter<Name>, sorts: Order<Name>, page: { offset: number; limit: number }): { rows: number[]; total: number } {
  const kept = [...rows].filter(([, one]) => filter.every((test) => holds(one, test)));
  kept.sort(([leftNumber, left], [rightNumber, right]) => {
    for (const { column, descending = false } of sorts) {
      const difference = column === "tags" ? 0 : compare(left[column], right[column], descending, column === "title");
      if (difference !== 0) return difference;
    }
    return leftNumber - rightNumber;
  });
  return { rows: kept.slice(page.offset, page.offset + page.limit).map(([number]) => number), total: kept.length };
}

function follow(list: Projection<Row, Name>, rows: Map<number, Row>, { number, row: fresh }: { number: number; row: Row | undefined }): void {
  if (fresh === undefined) {
    list.remove(number);
    rows.delete(number);
  } else {
    list.put(number, fresh);
    rows.set(number, fresh);
  }
}

function holds(one: Row, test: Filter<Name>[number]): boolean {
  const value = one[test.column];
  const values = Array.isArray(value) ? (value as readonly string[]) : value === undefined ? [] : [value as string | number];
  if ("equals" in test) return values.some((each) => each === test.equals);
  if ("in" in test) return values.some((each) => test.in.some((wanted) => wanted === each));
  if ("contains" in test) return values.some((each) => String(each).toLowerCase().includes(test.contains.toLowerCase()));
  return values.some((each) => Number(each) >= (test.from ?? -Infinity) && Number(each) <= (test.to ?? Infinity));
}

function compare(left: string | number | undefined, right: string | number | undefined, descending: boolean, folded: boolean): number {
  if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
  const fold = (value: string | number): (string | number)[] => (typeof value === "number" ? [value] : folded ? [value.toLowerCase()] : [value.toLowerCase(), value]);
  const [one, other] = [fold(left), fold(right)];
  const at = one.findIndex((part, index) => part !== other[index]);
  if (at < 0) return 0;
  return ((one[at] ?? "") < (other[at] ?? "") ? -1 : 1) * (descending ? -1 : 1);
}

describe("a list in memory", () => {
  it("answers any filter, order and page as a plain walk would, between any changes", () => {
    const query = fc.record({ filter: fc.array(condition, { maxLength: 3 }), order, offset: fc.nat(40), limit: fc.nat(20) });
    fc.assert(fc.property(fc.array(fc.record({ changes: fc.array(change, { maxLength: 60 }), queries: fc.array(query, { minLength: 1, maxLength: 4 }) }), { minLength: 1, maxLength: 4 }), (steps) => {
      const list = createList();
      const rows = new Map<number, Row>();
      for (const { changes, queries } of steps) {
        for (const one of changes) follow(list, rows, one);
        expect(list.size).toBe(rows.size);
        for (const { filter, order: sorts, offset, limit } of queries) {
          const { rows: found, total } = list.select(filter, sorts, { offset, limit });
          expect({ rows: [...found], total }).toEqual(expected(rows, filter, sorts, { offset, limit }));
        }
      }
    }), { numRuns: 400 });
  });

  it("keeps its orders over tens of thousands of changes, asked for or not", () => {
    const roll = dice(5);
    const list = createList();
    const rows = new Map<number, Row>();
    for (let at = 0; at < 30_000; at += 1) {
      const fresh: Row = { age: roll(10) === 0 ? undefined : roll(50), city: names[roll(names.length + 1)], tags: [], title: `${"abc"[roll(3)]} ${roll(2_000)}` };
      follow(list, rows, { number: roll(8_000), row: at > 5_000 && roll(4) === 0 ? undefined : fresh });
      if (at % 7_000 !== 6_999) continue;
      for (const sorts of [[], [{ column: "title", descending: true }], [{ column: "city", descending: true }], [{ column: "age" }, { column: "title" }]] satisfies Order<Name>[]) {
        for (const filter of [[], [{ column: "title", contains: "b" }]] satisfies Filter<Name>[]) {
          const page = { offset: roll(rows.size), limit: 50 };
          const { rows: found, total } = list.select(filter, sorts, page);
          expect({ rows: [...found], total }).toEqual(expected(rows, filter, sorts, page));
        }
      }
    }
  });

  it("cuts many rows into pages that neither overlap nor leave one out, also when all are equal", () => {
    const list = createList();
    for (let number = 0; number < 5_000; number += 1) list.put(4_999 - number, { age: number % 3, city: undefined, tags: [], title: "same" });
    for (const sorts of [[], [{ column: "title" }], [{ column: "age", descending: true }]] satisfies Order<Name>[]) {
      const seen: number[] = [];
      for (let offset = 0; offset < 5_000; offset += 700) seen.push(...list.select([], sorts, { offset, limit: 700 }).rows);
      expect(new Set(seen).size).toBe(5_000);
    }
  });

  it("refuses what a column cannot do", () => {
    const list = createList();
    list.put(1, { age: 1, city: "Rome", tags: [], title: "t" });
    const page = { offset: 0, limit: 1 };
    expect(() => list.select([{ column: "title", equals: "t" }], [], page)).toThrow("searched with contains");
    expect(() => list.select([{ column: "age", contains: "1" }], [], page)).toThrow("contains no text");
    expect(() => list.select([], [{ column: "tags" }], page)).toThrow("not sorted by sets");
    expect(() => list.put(2 ** 32, { age: 1, city: "Rome", tags: [], title: "t" })).toThrow("32 bits");
  });

  it("is filled from a table and follows it by effects", async () => {
    const env = await openEnv(temporaryFolder());
    await env.write((tx) => {
      for (let number = 0; number < 1_500; number += 1) tx.put(numbers, number, Uint8Array.of(number % 10));
    });
    const list = await openProjection(env, numbers, { digit: { kind: "number", of: (bytes) => bytes[0] } }, new AbortController().signal);
    expect(list.select([{ column: "digit", equals: 7 }], [], { offset: 10, limit: 2 })).toEqual({ rows: Uint32Array.of(107, 117), total: 150 });
    await env.write((tx) => {
      tx.put(numbers, 107, Uint8Array.of(1));
      tx.after(() => list.put(107, Uint8Array.of(1)));
    });
    expect(list.select([{ column: "digit", equals: 7 }], [], { offset: 10, limit: 1 })).toEqual({ rows: Uint32Array.of(117), total: 149 });
  });
});
