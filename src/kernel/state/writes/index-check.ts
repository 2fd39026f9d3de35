/**
 * Verifies that the indexes of a file match its rows. Both sides are summed independently of order,
 * so one pass in constant memory checks a file of any size.
 */
import { crc32 } from "node:zlib";
import { decodeKey } from "../codec/key-bytes.ts";
import { indexKeys } from "./transaction.ts";
import { indexName, rowsName } from "../table.ts";
import type { AnyTable, Index } from "../types.ts";

/** Keeps sums below 2^53, so that adding 48 bits is exact. */
const SUM_RANGE = 2 ** 52;

/** Compares the indexes of a file with its rows while the file is walked. */
export interface IndexCheck {
  /** Adds one row of any sub-database. Throws what decoding a row throws. */
  visit(store: string, key: Uint8Array, value: Uint8Array): void;
  /** Mismatches, one line each; empty when all is well. Call after the walk. */
  problems(): string[];
}

interface Sums {
  readonly name: string;
  expected: number;
  found: number;
  difference: number;
}

/**
 * Checks these tables. Sealed tables are skipped: their rows cannot be read without the root key.
 */
export function createIndexCheck(tables: readonly AnyTable[]): IndexCheck {
  const open = tables.filter((table) => !table.sealed && table.indexes.length > 0);
  const sums = new Map<string, Sums>(
    open.flatMap((table) =>
      table.indexes.map((index) => [
        indexName(table, index),
        { name: `the index ${index.name} of ${table.name}`, expected: 0, found: 0, difference: 0 },
      ]),
    ),
  );
  const rows = new Map(open.map((table) => [rowsName(table), table]));
  const expect = (
    table: AnyTable,
    index: Index<unknown, unknown>,
    key: Uint8Array,
    value: unknown,
  ): void => {
    const sum = sums.get(indexName(table, index));
    if (sum === undefined) return;
    for (const entry of indexKeys(index, {
      key: table.key.fromParts(decodeKey(key)),
      bytes: key,
      value,
    }).values()) {
      sum.expected += 1;
      sum.difference = (sum.difference + mixed(entry, key)) % SUM_RANGE;
    }
  };
  return {
    visit(store, key, value) {
      const table = rows.get(store);
      if (table !== undefined) {
        const row = table.value.read(value);
        for (const index of table.indexes) expect(table, index, key, row);
      }
      const sum = sums.get(store);
      if (sum === undefined) return;
      sum.found += 1;
      sum.difference = (sum.difference - mixed(key, value)) % SUM_RANGE;
    },
    problems: () =>
      [...sums.values()]
        .filter(({ expected, found, difference }) => expected !== found || difference !== 0)
        .map(({ name, expected, found }) =>
          expected === found
            ? `${name} points to wrong rows`
            : `${name} has ${found} entries and should have ${expected}`,
        ),
  };
}

/**
 * 48 bits representing an entry. Mixed after the checksum, because sums of CRCs would cancel out.
 */
function mixed(key: Uint8Array, value: Uint8Array): number {
  const low = crc32(value, crc32(key));
  const high = crc32(key, crc32(value, 0x9e3779b9));
  return scrambled(low) * 0x10000 + (scrambled(high ^ low) >>> 16);
}

// The finaliser of MurmurHash3.
function scrambled(word: number): number {
  let bits = word;
  bits = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b);
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35);
  return (bits ^ (bits >>> 16)) >>> 0;
}
