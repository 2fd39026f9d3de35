/** The columns of a list in memory: numbers, names by their code in a dictionary, sets of names, and lower-cased text. */
import { assert } from "../base/errors.ts";

/** How a column is filled from a row. */
export type Column<R> =
  | { readonly kind: "number"; readonly of: (row: R) => number | undefined }
  /** A name of few different ones. */
  | { readonly kind: "name"; readonly of: (row: R) => string | undefined }
  /** Several such names. */
  | { readonly kind: "names"; readonly of: (row: R) => readonly string[] }
  /** Text that differs from row to row. */
  | { readonly kind: "text"; readonly of: (row: R) => string };

/** What must hold of a column. */
export type Condition =
  /** A number or a whole name; one of several for `in`. A set of names has to hold one of them. */
  | { readonly equals: number | string }
  | { readonly in: readonly (number | string)[] }
  /** A number, bounds included; a missing one is outside. */
  | { readonly from?: number; readonly to?: number }
  /** Part of a name or text, whatever the case. */
  | { readonly contains: string };

/** A condition made ready for one query. */
export interface Test {
  readonly keep: (slot: number) => boolean;
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

/** A column in memory, by slot. */
export interface ColumnStore<R> {
  put(slot: number, row: R): void;
  /** Moves a slot's value to another slot and forgets it where it was; both may be the same. */
  take(from: number, to: number): void;
  widen(capacity: number): void;
  test(condition: Condition): Test;
  sorting(descending: boolean): Sorting;
}

/** An empty column. */
export function createColumn<R>(column: Column<R>, capacity: number): ColumnStore<R> {
  switch (column.kind) {
    case "number": return numbers(column.of, capacity);
    case "name": return names(column.of, capacity);
    case "names": return nameSets(column.of, capacity);
    case "text": return texts(column.of, capacity);
  }
}

function numbers<R>(of: (row: R) => number | undefined, capacity: number): ColumnStore<R> {
  let values = new Float64Array(capacity);
  return {
    put: (slot, row) => void (values[slot] = of(row) ?? Number.NaN),
    take: (from, to) => void (values[to] = values[from] ?? Number.NaN),
    widen: (wider) => void (values = widened(values, new Float64Array(wider))),
    test(condition) {
      const wanted = wantedOf(condition);
      if (wanted !== undefined) {
        const set = new Set(wanted);
        return { keep: (slot) => set.has(values[slot] ?? Number.NaN), cost: 1 };
      }
      assert(!("contains" in condition), "a column of numbers contains no text");
      const { from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = condition as { from?: number; to?: number };
      return { keep: (slot) => (values[slot] ?? Number.NaN) >= from && (values[slot] ?? Number.NaN) <= to, cost: 1 };
    },
    sorting: (descending) => ({ key: (slot) => lastIfMissing(values[slot] ?? Number.NaN, descending), tie: undefined }),
  };
}

function names<R>(of: (row: R) => string | undefined, capacity: number): ColumnStore<R> {
  const dictionary = createDictionary();
  let codes = new Uint32Array(capacity);
  return {
    put(slot, row) {
      const name = of(row);
      codes[slot] = name === undefined ? 0 : dictionary.code(name);
    },
    take: (from, to) => void (codes[to] = codes[from] ?? 0),
    widen: (wider) => void (codes = widened(codes, new Uint32Array(wider))),
    test(condition) {
      const wanted = dictionary.matching(condition);
      return { keep: (slot) => wanted[codes[slot] ?? 0] === 1, cost: 1 };
    },
    sorting(descending) {
      const ranks = dictionary.ranks();
      return { key: (slot) => lastIfMissing(ranks[codes[slot] ?? 0] ?? Number.NaN, descending), tie: undefined };
    },
  };
}

// Rows often share the same set, so a set has a code of its own in a second dictionary.
function nameSets<R>(of: (row: R) => readonly string[], capacity: number): ColumnStore<R> {
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
    put: (slot, row) => void (codes[slot] = codeOf(of(row).map((name) => dictionary.code(name)))),
    take: (from, to) => void (codes[to] = codes[from] ?? 0),
    widen: (wider) => void (codes = widened(codes, new Uint32Array(wider))),
    test(condition) {
      const wanted = dictionary.matching(condition);
      const wantedSets = Uint8Array.from(sets, (members) => (members.some((code) => wanted[code] === 1) ? 1 : 0));
      return { keep: (slot) => wantedSets[codes[slot] ?? 0] === 1, cost: 1 };
    },
    sorting() {
      assert(false, "a list is not sorted by sets of names");
    },
  };
}

function texts<R>(of: (row: R) => string, capacity: number): ColumnStore<R> {
  const values: string[] = [];
  let heads = new Float64Array(capacity);
  return {
    put(slot, row) {
      const text = of(row).toLowerCase();
      values[slot] = text;
      heads[slot] = headOf(text);
    },
    take(from, to) {
      values[to] = values[from] ?? "";
      heads[to] = heads[from] ?? 0;
      values.length = from;
    },
    widen: (wider) => void (heads = widened(heads, new Float64Array(wider))),
    test(condition) {
      assert("contains" in condition, "a column of text is searched with contains");
      const part = condition.contains.toLowerCase();
      return { keep: (slot) => (values[slot] ?? "").includes(part), cost: 10 };
    },
    sorting(descending) {
      const sign = descending ? -1 : 1;
      return {
        key: (slot) => sign * (heads[slot] ?? 0),
        tie: (left, right) => sign * compareText(values[left] ?? "", values[right] ?? ""),
      };
    },
  };
}

interface Dictionary {
  /** From 1 up, the same for the same name. */
  code(name: string): number;
  /** By code: 1 where the name meets the condition. Nothing (code 0) meets none. */
  matching(condition: Condition): Uint8Array;
  /** By code: the place of the name among all, ignoring case first; nothing has none. */
  ranks(): Float64Array;
}

// Names that no row has any more stay: a dictionary is as large as what its column ever held, until the next start.
function createDictionary(): Dictionary {
  const codes = new Map<string, number>();
  const names: string[] = [""];
  let ranks = Float64Array.of(Number.NaN);
  return {
    code(name) {
      const known = codes.get(name);
      if (known !== undefined) return known;
      codes.set(name, names.length);
      return names.push(name) - 1;
    },
    matching(condition) {
      const wanted = wantedOf(condition);
      const found = new Uint8Array(names.length);
      if (wanted !== undefined) for (const name of wanted) found[codes.get(String(name)) ?? 0] = 1;
      else {
        assert("contains" in condition, "a column of names has no bounds");
        const part = condition.contains.toLowerCase();
        for (const [code, name] of names.entries()) found[code] = name.toLowerCase().includes(part) ? 1 : 0;
      }
      found[0] = 0;
      return found;
    },
    ranks() {
      if (ranks.length === names.length) return ranks;
      ranks = new Float64Array(names.length).fill(Number.NaN);
      const folded = names.map((name) => name.toLowerCase());
      const sorted = Array.from({ length: names.length - 1 }, (_, at) => at + 1).sort((left, right) => compareText(folded[left] ?? "", folded[right] ?? "") || compareText(names[left] ?? "", names[right] ?? ""));
      for (const [rank, code] of sorted.entries()) ranks[code] = rank;
      return ranks;
    },
  };
}

function wantedOf(condition: Condition): readonly (number | string)[] | undefined {
  if ("equals" in condition) return [condition.equals];
  return "in" in condition ? condition.in : undefined;
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

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function widened<A extends Float64Array | Uint32Array>(from: A, wider: A): A {
  wider.set(from);
  return wider;
}
