/** One change to an environment: rows and their index entries move together, and how many rows there are is counted. */
import { StewardError } from "../base/errors.ts";
import { houseBytes } from "./house.ts";
import { HOUSE, indexName, rowsName } from "./table.ts";
import { encodeKey } from "./key-bytes.ts";
import { lmdbError } from "./lmdb-file.ts";
import type { LmdbFile, Store } from "./lmdb-file.ts";
import { FileSnapshot } from "./snapshot.ts";
import type { AnyTable, Index, Table, Tx } from "./types.ts";
import { UndoLog } from "./undo.ts";

/** The most that one change may write: keys and values of rows and index entries together. */
export const MAX_CHANGE_BYTES: number = 2 ** 20;

/** What LMDB takes as a key with pages of 4 KiB. */
const LONGEST_KEY = 1978;

/** What a change may count on. */
export interface ChangeRules {
  /** Rows of a table before the change. */
  readonly rowsOf: (table: string) => number;
  /** Set when the file has reached its ceiling: only deletions are taken. */
  readonly full: StewardError | undefined;
}

/** The transaction that a change sees. */
export class FileTx extends FileSnapshot implements Tx {
  readonly #rules: ChangeRules;
  readonly #undo = new UndoLog();
  /** Tables whose count may have changed, with their new count. */
  readonly rows: Map<string, number> = new Map();
  readonly effects: (() => void)[] = [];
  /** A refusal that the change may have caught; it still must not be stored. */
  failure: unknown;
  bytes = 0;

  constructor(file: LmdbFile, rules: ChangeRules) {
    super(file);
    this.#rules = rules;
  }

  override count(table: AnyTable): number {
    return this.rows.get(table.name) ?? this.#rules.rowsOf(table.name);
  }

  put<K, V>(table: Table<K, V>, key: K, value: V): void {
    this.#attempt(() => {
      if (this.#rules.full !== undefined) throw this.#rules.full;
      const store = this.file.store(rowsName(table));
      const bytes = encodeKey(table.key.toParts(key));
      if (bytes.length === 0) throw new StewardError("invalid", `a key of ${table.name} has at least one part`, { rule: "key" });
      const before = this.#before(table, store, bytes);
      if (!before.exists) this.#countOneMore(table);
      this.#putIndexes(table, { key, bytes, before: before.value, value });
      this.#store(store, bytes, table.value.write(value), before.exists);
    });
  }

  delete<K, V>(table: Table<K, V>, key: K): boolean {
    return this.#attempt(() => {
      const store = this.file.store(rowsName(table));
      const bytes = encodeKey(table.key.toParts(key));
      const { exists, value } = this.#before(table, store, bytes);
      if (!exists) return false;
      if (value !== undefined) this.#removeIndexes(table, { key, bytes, value: table.value.read(value) });
      this.#remove(store, bytes);
      this.rows.set(table.name, this.count(table) - 1);
      return true;
    });
  }

  /** Stores a house row. */
  putHouse(key: Uint8Array, value: unknown): void {
    this.#write(() => this.#undo.put(this.file.store(HOUSE), key, houseBytes(this.file, key, value), true));
  }

  /** Takes a house row away. */
  removeHouse(key: Uint8Array): void {
    this.#remove(this.file.store(HOUSE), key);
  }

  after(effect: () => void): void {
    this.effects.push(effect);
  }

  /** Takes back what was written; the counts and effects are not to be used any more. When this throws, nothing of the transaction may be stored. */
  takeBack(): void {
    this.#write(() => this.#undo.takeBack());
  }

  /** The row that a change replaces. Only indexes ask for its value, which may be long or encrypted. */
  #before<K, V>(table: Table<K, V>, store: Store, key: Uint8Array): { readonly exists: boolean; readonly value: Uint8Array | undefined } {
    if (table.indexes.length === 0) {
      store.check.assertOpen();
      return { exists: this.has(store, key), value: undefined };
    }
    const value = this.raw(store, key);
    return { exists: value !== undefined, value };
  }

  #removeIndexes<K, V>(table: Table<K, V>, row: { key: K; bytes: Uint8Array; value: V }): void {
    for (const index of table.indexes) {
      const entries = this.file.store(indexName(table, index));
      for (const entry of indexKeys(index, row).values()) this.#remove(entries, entry);
    }
  }

  #putIndexes<K, V>(table: Table<K, V>, row: { key: K; bytes: Uint8Array; before: Uint8Array | undefined; value: V }): void {
    const { key, bytes, before, value } = row;
    for (const index of table.indexes) {
      const entries = this.file.store(indexName(table, index));
      const fresh = indexKeys(index, { key, bytes, value });
      const stale = before === undefined ? new Map<string, Uint8Array>() : indexKeys(index, { key, bytes, value: table.value.read(before) });
      for (const [id, entry] of stale) if (!fresh.has(id)) this.#remove(entries, entry);
      for (const [id, entry] of fresh) {
        if (stale.has(id)) continue;
        if (index.unique && this.raw(entries, entry) !== undefined) throw taken(table, index, index.of(value, key));
        this.#store(entries, entry, bytes, false); // what was this row's is among the stale, and what is another's was refused
      }
    }
  }

  #countOneMore(table: AnyTable): void {
    const rows = this.count(table) + 1;
    if (rows > table.limit.rows) {
      throw new StewardError("disk_full", `the table ${table.name} holds its ${table.limit.rows} rows`, { rule: "limit.rows", remedy: "delete rows that are no longer needed" });
    }
    this.rows.set(table.name, rows);
  }

  #store(store: Store, key: Uint8Array, value: Uint8Array, existed: boolean): void {
    this.bytes += key.length + value.length;
    if (this.bytes > MAX_CHANGE_BYTES) {
      throw new StewardError("too_large", `a change writes more than ${MAX_CHANGE_BYTES} bytes`, { rule: "size of a change", remedy: "write in several changes" });
    }
    if (key.length > LONGEST_KEY) throw new StewardError("invalid", `a key of ${store.name} has ${key.length} bytes, ${LONGEST_KEY} at most`, { rule: "key" });
    this.#write(() => this.#undo.put(store, key, store.check.close(key, value), existed));
  }

  #remove(store: Store, key: Uint8Array): void {
    this.#write(() => this.#undo.remove(store, key));
  }

  #attempt<T>(step: () => T): T {
    try {
      return step();
    } catch (error) {
      this.failure ??= error;
      throw error;
    }
  }

  #write(step: () => void): void {
    try {
      step();
    } catch (error) {
      throw lmdbError(error, this.file.path);
    }
  }
}

/** The raw entries of a row. That of a unique index is its key alone; otherwise the row's key follows, so that rows share an index key. */
export function indexKeys<K, V>(index: Index<K, V>, row: { key: K; bytes: Uint8Array; value: V }): Map<string, Uint8Array> {
  const keys = index.of(row.value, row.key).map((parts) => (index.unique ? encodeKey(parts) : Buffer.concat([encodeKey(parts), row.bytes])));
  return new Map(keys.map((key) => [Buffer.from(key).toString("latin1"), key]));
}

function taken<K, V>(table: Table<K, V>, index: Index<K, V>, keys: readonly (readonly unknown[])[]): StewardError {
  return new StewardError("conflict", `another row of ${table.name} already has this ${index.name}: ${JSON.stringify(keys)}`, { rule: `unique ${index.name}`, field: index.name });
}
