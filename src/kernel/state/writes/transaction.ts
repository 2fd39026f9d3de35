/**
 * One change to an environment: rows, their index entries and row counts change together. Its
 * writes are stored by LMDB later, with their group; it reads the writes of earlier changes as if
 * they were stored.
 */
import { StewardError } from "../../base/errors.ts";
import { encodeMetadata } from "../rows/store-metadata.ts";
import { METADATA_STORE, indexName, rowsName } from "../table.ts";
import { encodeKey } from "../codec/key-bytes.ts";
import type { LmdbFile, Store } from "../file/lmdb-file.ts";
import { FileSnapshot, justAfter, spanBehind } from "../rows/snapshot.ts";
import type { ChunkOptions, Entry, Span } from "../rows/snapshot.ts";
import type { AnyTable, Index, Table, Tx } from "../types.ts";
import { merged, textOf, writeOf } from "./unstored.ts";
import type { Unstored, Write } from "./unstored.ts";

/**
 * Maximum size of one change: keys and values of rows and index entries together. More only where a
 * table of the change declares it.
 */
export const MAX_CHANGE_BYTES = 2 ** 20;

/** LMDB's maximum key length with pages of 4 KiB. */
const MAX_KEY_BYTES = 1978;

export interface ChangeRules {
  /** Rows of a table before the change. */
  readonly rowsOf: (table: string) => number;
  /** Why puts are refused: the disk is full or the file has reached its ceiling. */
  readonly full: StewardError | undefined;
  /** Writes of earlier changes; this change's own writes are added. */
  readonly unstored: Unstored;
}

/** The transaction passed to a change. */
export class FileTx extends FileSnapshot implements Tx {
  readonly #rules: ChangeRules;
  /** In order. */
  readonly writes: Write[] = [];
  /** What each write replaced among the unstored ones. */
  readonly #replaced: (Write | undefined)[] = [];
  /** New row counts of tables that may have changed. */
  readonly rows: Map<string, number> = new Map();
  readonly effects: (() => void)[] = [];
  /** A refusal that the change may have caught; the change is still not stored. */
  failure: unknown;
  bytes = 0;
  #maxBytes = MAX_CHANGE_BYTES;

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
      if (bytes.length === 0)
        throw new StewardError("invalid", `a key of ${table.name} has at least one part`, {
          rule: "key",
        });
      const before = this.#before(table, store, bytes);
      if (!before.exists) this.#countOneMore(table);
      this.#assertRoom(table, store);
      this.#maxBytes = Math.max(this.#maxBytes, table.limit.changeBytes ?? 0);
      this.#putIndexes(table, { key, bytes, before: before.value, value });
      this.#store(store, bytes, table.value.write(value));
    });
  }

  delete<K, V>(table: Table<K, V>, key: K): boolean {
    return this.#attempt(() => {
      const store = this.file.store(rowsName(table));
      const bytes = encodeKey(table.key.toParts(key));
      const { exists, value } = this.#before(table, store, bytes);
      if (!exists) return false;
      if (value !== undefined)
        this.#removeIndexes(table, { key, bytes, value: table.value.read(value) });
      this.#write(store, bytes, undefined);
      this.rows.set(table.name, this.count(table) - 1);
      return true;
    });
  }

  /** Stores a row again, encrypted with the newest data key; a deleted row stays deleted. */
  reencrypt(store: Store, key: Uint8Array): void {
    this.#attempt(() => {
      if (this.#rules.full !== undefined) throw this.#rules.full;
      const value = this.raw(store, key);
      if (value !== undefined) this.#store(store, key, value);
    });
  }

  /** Stores a metadata row. */
  putMetadata(key: Uint8Array, value: unknown): void {
    this.#write(this.file.store(METADATA_STORE), key, encodeMetadata(value));
  }

  /** Removes a metadata row. */
  removeMetadata(key: Uint8Array): void {
    this.#write(this.file.store(METADATA_STORE), key, undefined);
  }

  override raw(store: Store, key: Uint8Array): Uint8Array | undefined {
    this.assertOpen();
    const write = this.#rules.unstored.find(store, key);
    if (write === undefined) return super.raw(store, key);
    store.check.assertOpen();
    return write.value === undefined ? undefined : Uint8Array.from(write.value);
  }

  override has(store: Store, key: Uint8Array): boolean {
    this.assertOpen();
    const write = this.#rules.unstored.find(store, key);
    return write === undefined ? super.has(store, key) : write.value !== undefined;
  }

  override chunk(store: Store, span: Span, options: ChunkOptions): Entry[] {
    const { unstored } = this.#rules;
    if (!unstored.has(store)) return super.chunk(store, span, options);
    store.check.assertOpen();
    for (let rest = span; ;) {
      const stored = super.chunk(store, rest, options);
      const last = stored.at(-1);
      // After the last row of a chunk LMDB may have more rows, which precede unstored ones there.
      const known =
        last === undefined
          ? rest
          : options.reverse
            ? { start: last.key, end: rest.end }
            : { start: rest.start, end: justAfter(last.key) };
      const entries = merged(
        stored,
        unstored.within(store, known, options.reverse),
        options.reverse,
      );
      if (entries.length > 0 || last === undefined) return entries.slice(0, options.rows);
      rest = spanBehind(rest, last, options.reverse);
    }
  }

  after(effect: () => void): void {
    this.effects.push(effect);
  }

  /** Undoes the writes; the transaction is not used afterwards. */
  takeBack(): void {
    for (let write = this.writes.pop(); write !== undefined; write = this.writes.pop())
      this.#rules.unstored.takeBack(write, this.#replaced.pop());
  }

  /**
   * The row that a change replaces. Its value is read for indexes only, as it may be long or
   * encrypted.
   */
  #before<K, V>(
    table: Table<K, V>,
    store: Store,
    key: Uint8Array,
  ): { readonly exists: boolean; readonly value: Uint8Array | undefined } {
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
      for (const entry of indexKeys(index, row).values()) this.#write(entries, entry, undefined);
    }
  }

  #putIndexes<K, V>(
    table: Table<K, V>,
    row: { key: K; bytes: Uint8Array; before: Uint8Array | undefined; value: V },
  ): void {
    const { key, bytes, before, value } = row;
    for (const index of table.indexes) {
      const entries = this.file.store(indexName(table, index));
      const fresh = indexKeys(index, { key, bytes, value });
      const stale =
        before === undefined
          ? new Map<string, Uint8Array>()
          : indexKeys(index, { key, bytes, value: table.value.read(before) });
      for (const [id, entry] of stale) if (!fresh.has(id)) this.#write(entries, entry, undefined);
      for (const [id, entry] of fresh) {
        if (stale.has(id)) continue;
        if (index.unique && this.raw(entries, entry) !== undefined)
          throw taken(table, index, index.of(value, key));
        this.#store(entries, entry, bytes);
      }
    }
  }

  #countOneMore(table: AnyTable): void {
    const rows = this.count(table) + 1;
    if (rows > table.limit.rows) {
      throw new StewardError(
        "disk_full",
        `the table ${table.name} holds its ${table.limit.rows} rows`,
        { rule: "limit.rows", remedy: "delete rows that are no longer needed" },
      );
    }
    this.rows.set(table.name, rows);
  }

  /** By what is stored: the changes of a group may exceed the limit together. */
  #assertRoom({ name, limit }: AnyTable, store: Store): void {
    if (limit.bytes === undefined || this.file.bytesOf(store) < limit.bytes) return;
    throw new StewardError("disk_full", `the table ${name} holds its ${limit.bytes} bytes`, {
      rule: "limit.bytes",
      remedy: "delete rows that are no longer needed",
    });
  }

  #store(store: Store, key: Uint8Array, value: Uint8Array): void {
    this.bytes += key.length + value.length;
    if (this.bytes > this.#maxBytes) {
      throw new StewardError("too_large", `a change writes more than ${this.#maxBytes} bytes`, {
        rule: "size of a change",
        remedy: "write in several changes",
      });
    }
    this.#write(store, key, value);
  }

  #attempt<T>(step: () => T): T {
    try {
      return step();
    } catch (error) {
      this.failure ??= error;
      throw error;
    }
  }

  #write(store: Store, key: Uint8Array, value: Uint8Array | undefined): void {
    // Checked here, where it affects this change alone: an error of LMDB fails the whole group.
    if (key.length > MAX_KEY_BYTES)
      throw new StewardError(
        "invalid",
        `a key of ${store.name} has ${key.length} bytes, ${MAX_KEY_BYTES} at most`,
        { rule: "key" },
      );
    const write = writeOf(store, key, value);
    this.#replaced.push(this.#rules.unstored.add(write));
    this.writes.push(write);
  }
}

/**
 * The raw entries of a row. An entry of a unique index is its key alone; otherwise the row's key
 * follows, so that rows can share an index key.
 */
export function indexKeys<K, V>(
  index: Index<K, V>,
  row: { key: K; bytes: Uint8Array; value: V },
): Map<string, Uint8Array> {
  const keys = index
    .of(row.value, row.key)
    .map((parts) =>
      index.unique ? encodeKey(parts) : Buffer.concat([encodeKey(parts), row.bytes]),
    );
  return new Map(keys.map((key) => [textOf(key), key]));
}

function taken<K, V>(
  table: Table<K, V>,
  index: Index<K, V>,
  keys: readonly (readonly unknown[])[],
): StewardError {
  return new StewardError(
    "conflict",
    `another row of ${table.name} already has this ${index.name}: ${JSON.stringify(keys)}`,
    { rule: `unique ${index.name}`, field: index.name },
  );
}
