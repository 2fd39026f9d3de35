/**
 * Reads typed rows from an open file. LMDB gives all reads within one synchronous run the same
 * snapshot, and inside a transaction its own writes. Ranges fetch rows in bounded chunks and hold
 * no cursor in between, so a loop may be left at any row and rows may be changed meanwhile.
 */
import { assert, StewardError } from "../../base/errors.ts";
import { METADATA_STORE, indexName, rowsName } from "../table.ts";
import { rowCountKey, decodeMetadata } from "./store-metadata.ts";
import { afterPrefix, decodeKey, encodeKey } from "../codec/key-bytes.ts";
import { lmdbError } from "../file/lmdb-error.ts";
import type { LmdbFile, Store } from "../file/lmdb-file.ts";
import type { AnyTable, Bounds, KeyPart, Snapshot, Table } from "../types.ts";

const CHUNK_ROWS = 256;
const CHUNK_BYTES = 2 ** 20;

/** A raw entry: key and verified value, both copies. */
export interface Entry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** How a range is read in chunks. */
export interface ChunkOptions {
  readonly reverse: boolean;
  readonly rows: number;
  /** Leaves the values of stored rows empty. */
  readonly keysOnly?: boolean;
}

const NO_VALUE = new Uint8Array(0);

/** A range of raw keys: `start` inclusive, `end` exclusive. */
export interface Span {
  readonly start: Uint8Array | undefined;
  readonly end: Uint8Array | undefined;
}

/**
 * Reads within one synchronous run; after `end` every use fails an assertion, so that no reference
 * outlives its snapshot.
 */
export class FileSnapshot implements Snapshot {
  readonly file: LmdbFile;
  #ended = false;

  constructor(file: LmdbFile) {
    this.file = file;
  }

  end(): void {
    this.#ended = true;
  }

  get<K, V>(table: Table<K, V>, key: K): V | undefined {
    const bytes = encodeKey(table.key.toParts(key));
    const value = this.raw(this.file.store(rowsName(table)), bytes);
    return value === undefined ? undefined : table.value.read(value);
  }

  *range<K, V>(table: Table<K, V>, bounds: Bounds = {}): Generator<[K, V]> {
    for (const entry of this.entries(this.file.store(rowsName(table)), spanOf(bounds), bounds))
      yield decodeRow(table, entry);
  }

  *keys<K, V>(table: Table<K, V>, bounds: Bounds = {}): Generator<K> {
    const store = this.file.store(rowsName(table));
    store.check.assertOpen();
    for (const { key } of this.entries(store, spanOf(bounds), { ...bounds, keysOnly: true }))
      yield table.key.fromParts(decodeKey(key));
  }

  find<K, V>(table: Table<K, V>, index: string, parts: readonly KeyPart[]): K[] {
    const declared = table.indexes.find((one) => one.name === index);
    assert(declared !== undefined, `${table.name} has an index ${index}`);
    const store = this.file.store(indexName(table, declared));
    // A whole unique entry is one row, and a look-up costs a third of a range.
    const only =
      declared.unique && parts.length > 0 ? this.raw(store, encodeKey(parts)) : undefined;
    if (only !== undefined) return [table.key.fromParts(decodeKey(only))];
    const entries = this.entries(store, spanOf({ prefix: parts }), {});
    return Array.from(entries, (entry) => table.key.fromParts(decodeKey(entry.value)));
  }

  count(table: AnyTable): number {
    return readCensus(this, table);
  }

  /** The verified value of a key. Throws `corrupt` when its checksum does not match. */
  raw(store: Store, key: Uint8Array): Uint8Array | undefined {
    this.assertOpen();
    const stored = guarded(this.file.path, () => store.db.getBinary(key));
    return stored === undefined ? undefined : openRow(store, key, stored);
  }

  /** Whether a row exists, damaged or not. */
  has(store: Store, key: Uint8Array): boolean {
    this.assertOpen();
    return guarded(this.file.path, () => store.db.doesExist(key));
  }

  /** Entries of a range in key order, or reversed. */
  *entries(
    store: Store,
    span: Span,
    options: { readonly reverse?: boolean; readonly limit?: number; readonly keysOnly?: boolean },
  ): Generator<Entry> {
    let left = options.limit ?? Number.POSITIVE_INFINITY;
    let rest = span;
    for (let rows = 16; left > 0; rows = CHUNK_ROWS) {
      const chunk = this.chunk(store, rest, {
        reverse: options.reverse ?? false,
        rows: Math.min(rows, left),
        keysOnly: options.keysOnly ?? false,
      });
      yield* chunk;
      const last = chunk.at(-1);
      if (last === undefined) return;
      left -= chunk.length;
      rest = spanBehind(rest, last, options.reverse === true);
    }
  }

  /**
   * At most `rows` entries of a range, fewer when they reach 1 MiB; empty when the range is
   * exhausted.
   */
  chunk(store: Store, span: Span, options: ChunkOptions): Entry[] {
    this.assertOpen();
    const { start, end } = span;
    if (start !== undefined && end !== undefined && Buffer.compare(start, end) >= 0) return [];
    const entries: Entry[] = [];
    let bytes = 0;
    guarded(this.file.path, () => {
      const range = { ...lmdbRange(span, options.reverse), limit: options.rows + 1 };
      const found =
        options.keysOnly === true
          ? store.db.getKeys(range).map((key) => ({ key, value: undefined }))
          : store.db.getRange(range);
      for (const { key, value } of found) {
        // In reverse, LMDB starts at the end key itself, which the range excludes.
        if (options.reverse && end !== undefined && Buffer.compare(key, end) >= 0) continue;
        const length = value?.length ?? 0;
        if (entries.length === options.rows || (bytes > 0 && bytes + length > CHUNK_BYTES)) break;
        if (options.reverse && start !== undefined && Buffer.compare(key, start) < 0) break;
        entries.push({ key, value: value === undefined ? NO_VALUE : openRow(store, key, value) });
        bytes += length;
      }
    });
    return entries;
  }

  /** Throws after `end`. */
  protected assertOpen(): void {
    assert(!this.#ended, "a snapshot is used only while its view or change runs");
  }
}

/** Decodes an entry into a row. */
export function decodeRow<K, V>(table: Table<K, V>, entry: Entry): [K, V] {
  return [table.key.fromParts(decodeKey(entry.key)), table.value.read(entry.value)];
}

/** The raw keys that bounds cover. */
export function spanOf(bounds: Bounds): Span {
  const starts = [bounds.start, bounds.prefix].flatMap((parts) =>
    parts === undefined ? [] : [encodeKey(parts)],
  );
  const prefixEnd = bounds.prefix === undefined ? undefined : afterPrefix(encodeKey(bounds.prefix));
  const ends = [bounds.end === undefined ? undefined : encodeKey(bounds.end), prefixEnd].filter(
    (end) => end !== undefined,
  );
  return { start: starts.sort(byBytes).at(-1), end: ends.sort(byBytes).at(0) };
}

/** The rest of a range after this entry. */
export function spanBehind({ start, end }: Span, { key }: Entry, reverse: boolean): Span {
  return reverse ? { start, end: key } : { start: justAfter(key), end };
}

/** The smallest key greater than this one. */
export function justAfter(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}

function readCensus(snapshot: FileSnapshot, table: AnyTable): number {
  const value = snapshot.raw(snapshot.file.store(METADATA_STORE), rowCountKey(table));
  return value === undefined ? 0 : (decodeMetadata(value) as number);
}

function openRow(store: Store, key: Uint8Array, stored: Uint8Array): Uint8Array {
  const value = store.check.open(key, stored);
  if (value !== undefined) return value;
  throw new StewardError(
    "corrupt",
    `${store.name}: the row with key ${describeKey(key)} is damaged`,
    {
      remedy: "stop Steward and restore a backup of this store",
      rule: "check word",
    },
  );
}

function describeKey(key: Uint8Array): string {
  try {
    return JSON.stringify(decodeKey(key));
  } catch {
    return Buffer.from(key).toString("hex");
  }
}

function lmdbRange(
  span: Span,
  reverse: boolean,
): { start?: Uint8Array; end?: Uint8Array; reverse?: boolean } {
  if (!reverse)
    return {
      start: span.start ?? Uint8Array.of(0),
      ...(span.end === undefined ? {} : { end: span.end }),
    };
  return { reverse: true, ...(span.end === undefined ? {} : { start: span.end }) };
}

function guarded<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw lmdbError(error, path);
  }
}

function byBytes(left: Uint8Array, right: Uint8Array): number {
  return Buffer.compare(left, right);
}
