/**
 * Names as small numbers, so that a column of names costs four bytes a row and a filter compares
 * numbers.
 */
import { assert } from "../../kernel/base/errors.ts";

/** The names that some row has. Codes begin at 1; 0 is free for "none". */
export interface Vocabulary {
  /** The name's code, for one row more. */
  take(name: string): number;
  /**
   * Decrements the use count of a code. At zero the name is freed and the code reused; code 0 is
   * reserved.
   */
  release(code: number): void;
  find(name: string): number | undefined;
  text(code: number): string;
  /** How many rows have the name. */
  count(name: string): number;
  /** Codes of the names that fulfil a condition. */
  codes(keep: (name: string) => boolean): number[];
  all(): string[];
  /** Every name with the number of rows that have it. */
  counts(): Iterable<readonly [name: string, rows: number]>;
}

interface Entry {
  readonly name: string;
  count: number;
}

/** An empty vocabulary. */
export function createVocabulary(): Vocabulary {
  const codes = new Map<string, number>();
  const entries: (Entry | undefined)[] = [undefined];
  const free: number[] = [];
  return {
    take(name) {
      const code = codes.get(name) ?? free.pop() ?? entries.length;
      const entry = (entries[code] ??= { name, count: 0 });
      entry.count += 1;
      codes.set(name, code);
      return code;
    },
    release(code) {
      if (code === 0) return;
      const entry = entries[code];
      assert(entry !== undefined, "a code is released by a row that took it");
      entry.count -= 1;
      if (entry.count > 0) return;
      codes.delete(entry.name);
      entries[code] = undefined;
      free.push(code);
    },
    find: (name) => codes.get(name),
    text: (code) => entries[code]?.name ?? "",
    count: (name) => entries[codes.get(name) ?? 0]?.count ?? 0,
    codes: (keep) => [...codes].flatMap(([name, code]) => (keep(name) ? [code] : [])),
    all: () => [...codes.keys()],
    *counts() {
      for (const entry of entries) if (entry !== undefined) yield [entry.name, entry.count];
    },
  };
}
