/** Declares tables and the names of their sub-databases. */
import { assert } from "../base/errors.ts";
import type { AnyTable, Index, KeyCodec, Table, TableLimit, ValueCodec } from "./types.ts";

const NAME = /^[a-z][a-z0-9_]{0,39}$/;

export interface TableOptions<K, V> {
  /** Lower-case letters, digits and `_`. */
  readonly name: string;
  readonly key: KeyCodec<K>;
  readonly value: ValueCodec<V>;
  readonly indexes?: readonly Index<K, V>[];
  readonly limit: TableLimit;
  /** See `Table.sealed`; default false. */
  readonly sealed?: boolean;
}

export function defineTable<K, V>(options: TableOptions<K, V>): Table<K, V> {
  const indexes = options.indexes ?? [];
  for (const name of [options.name, ...indexes.map((index) => index.name)])
    assert(NAME.test(name), `"${name}" can name a table or an index`);
  assert(
    new Set(indexes.map((index) => index.name)).size === indexes.length,
    `the indexes of ${options.name} have different names`,
  );
  assert(
    Number.isSafeInteger(options.limit.rows) && options.limit.rows > 0,
    `the limit of ${options.name} is a count of rows`,
  );
  return {
    name: options.name,
    key: options.key,
    value: options.value,
    indexes,
    limit: options.limit,
    sealed: options.sealed ?? false,
  };
}

/** The sub-database of a table's rows. */
export function rowsName(table: Pick<AnyTable, "name">): string {
  return `t:${table.name}`;
}

/** The sub-database of an index. */
export function indexName(table: Pick<AnyTable, "name">, index: { readonly name: string }): string {
  return `i:${table.name}:${index.name}`;
}

/** The sub-database of an environment's metadata. The name is part of the file format. */
export const METADATA_STORE = "house";
