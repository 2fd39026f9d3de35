/**
 * Writes that LMDB has not stored yet. Changes run ahead of the disk: each sees the writes of
 * earlier ones, kept here until their group is stored. Bounded by two groups: the one being stored
 * and the next.
 */
import type { Store, StoredRow } from "../file/lmdb-file.ts";
import type { Entry, Span } from "../rows/snapshot.ts";

/** One row as a change left it. */
export interface Write extends StoredRow {
  /** The key as a string with one character per byte, which sorts like the bytes. */
  readonly text: string;
  /** The plain value of `stored`; undefined with it. */
  readonly value: Uint8Array | undefined;
}

/**
 * The newest writes of an environment. Each group has maps of its own, dropped with it: a map that
 * is emptied and refilled for ever leaves a chain of outgrown hash tables, and their contents
 * survive young-generation collections.
 */
export class Unstored {
  #open = new Layer();
  #storing = new Layer();

  /** The newest write of a key; undefined when LMDB has it. */
  find(store: Store, key: Uint8Array): Write | undefined {
    const open = this.#open.rows(store);
    const storing = this.#storing.rows(store);
    if (open === undefined && storing === undefined) return undefined;
    const text = textOf(key);
    return open?.byText.get(text) ?? storing?.byText.get(text);
  }

  /** Adds a write to the open group; returns the one it replaces there. */
  add(write: Write): Write | undefined {
    return this.#open.add(write);
  }

  /** Undoes the latest `add` of this key. */
  takeBack(write: Write, replaced: Write | undefined): void {
    this.#open.takeBack(write, replaced);
  }

  /** Passes the open group to LMDB, which by now has the previous one; opens a new one. */
  handOver(): void {
    this.#storing = this.#open;
    this.#open = new Layer();
  }

  /** Drops the stored group: readers of LMDB see it now. */
  settle(): void {
    this.#storing = new Layer();
  }

  clear(): void {
    this.settle();
    this.#open = new Layer();
  }

  /** Whether any write of this sub-database is unstored. */
  has(store: Store): boolean {
    return this.#open.rows(store) !== undefined || this.#storing.rows(store) !== undefined;
  }

  /** The writes of a range in key order, or reversed; includes removals. */
  within(store: Store, { start, end }: Span, reverse: boolean): Write[] {
    const from = start === undefined ? "" : textOf(start);
    const to = end === undefined ? undefined : textOf(end);
    const open = this.#open.rows(store)?.between(from, to) ?? [];
    const newer = new Set(open.map(({ text }) => text));
    const older = (this.#storing.rows(store)?.between(from, to) ?? []).filter(
      ({ text }) => !newer.has(text),
    );
    const inside =
      older.length === 0
        ? open
        : [...open, ...older].sort((left, right) => (left.text < right.text ? -1 : 1));
    return reverse ? inside.toReversed() : inside;
  }
}

/** The writes of one group. */
class Layer {
  readonly #stores = new Map<Store, Rows>();

  rows(store: Store): Rows | undefined {
    return this.#stores.get(store);
  }

  add(write: Write): Write | undefined {
    let rows = this.#stores.get(write.store);
    if (rows === undefined) this.#stores.set(write.store, (rows = new Rows()));
    const replaced = rows.byText.get(write.text);
    rows.byText.set(write.text, write);
    return replaced;
  }

  takeBack({ store, text }: Write, replaced: Write | undefined): void {
    const rows = this.#stores.get(store);
    if (replaced !== undefined) rows?.byText.set(text, replaced);
    else rows?.remove(text);
  }
}

/** The writes of one group to one sub-database. */
class Rows {
  readonly byText = new Map<string, Write>();
  /** The texts present at the last iteration, sorted. */
  #sorted: readonly string[] = [];

  remove(text: string): void {
    this.byText.delete(text);
    this.#sorted = [];
  }

  between(from: string, to: string | undefined): Write[] {
    const texts = this.#texts();
    return texts
      .slice(firstFrom(texts, from), to === undefined ? texts.length : firstFrom(texts, to))
      .flatMap((text) => this.byText.get(text) ?? []);
  }

  // A change may iterate and write alternately: only additions since the last iteration are sorted.
  #texts(): readonly string[] {
    const known = this.#sorted;
    if (known.length === this.byText.size) return known;
    const fresh = [...this.byText.keys()].slice(known.length).sort();
    const texts: string[] = [];
    let at = 0;
    for (const text of fresh) {
      for (let other = known[at]; other !== undefined && other < text; other = known[at]) {
        texts.push(other);
        at += 1;
      }
      texts.push(text);
    }
    this.#sorted = [...texts, ...known.slice(at)];
    return this.#sorted;
  }
}

/** Index of the first text not less than this one. */
function firstFrom(texts: readonly string[], from: string): number {
  let low = 0;
  let high = texts.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((texts[middle] as string) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The write that puts a value under a key, or deletes the row. Throws what the row's check throws,
 * e.g. `sealed`.
 */
export function writeOf(store: Store, key: Uint8Array, value: Uint8Array | undefined): Write {
  return {
    store,
    key,
    text: textOf(key),
    stored: value === undefined ? undefined : store.check.close(key, value),
    value,
  };
}

/** A key as text, one character per byte. */
export function textOf(key: Uint8Array): string {
  return (
    Buffer.isBuffer(key) ? key : Buffer.from(key.buffer, key.byteOffset, key.length)
  ).toString("latin1");
}

/**
 * Entries as a reader sees them once these writes are stored; both inputs in key order, or both
 * reversed.
 */
export function merged(
  entries: readonly Entry[],
  writes: readonly Write[],
  reverse: boolean,
): Entry[] {
  const result: Entry[] = [];
  let at = 0;
  for (const write of writes) {
    let order = 1;
    for (; at < entries.length; at += 1) {
      const entry = entries[at] as Entry;
      order = Buffer.compare(entry.key, write.key) * (reverse ? -1 : 1);
      if (order >= 0) break;
      result.push(entry);
    }
    if (order === 0 && at < entries.length) at += 1; // the write replaces it
    if (write.value !== undefined)
      result.push({ key: write.key, value: Uint8Array.from(write.value) });
  }
  return [...result, ...entries.slice(at)];
}
