/**
 * What changes have written that LMDB has not stored yet. Changes run ahead of the disk: each sees
 * what those before it wrote, which lies here until its group is stored. Bounded by the two groups
 * that there may be, one that is being stored and one behind it.
 */
import type { Store } from "./lmdb-file.ts";
import type { Entry, Span } from "./snapshot.ts";

/** One row as a change left it. */
export interface Write {
  readonly store: Store;
  readonly key: Uint8Array;
  /** The key with a character for each byte, which has the order of the bytes. */
  readonly text: string;
  /** The bytes to lie there, sealed and with their check word; undefined takes the row away. */
  readonly stored: Buffer | undefined;
  /** What `stored` holds; undefined with it. */
  readonly value: Uint8Array | undefined;
}

/**
 * The newest writes of an environment. A group's lie in maps of their own, which go with it: a map
 * that is emptied and filled for ever leaves a trail of outgrown tables, each pointing to the next,
 * and what lay in them outlives the collections of the young.
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

  /** Adds a write to the open group and gives the one that it replaces there. */
  add(write: Write): Write | undefined {
    return this.#open.add(write);
  }

  /** Undoes the latest `add` of this key. */
  takeBack(write: Write, replaced: Write | undefined): void {
    this.#open.takeBack(write, replaced);
  }

  /** The open group goes to LMDB, which has the one before it by now; another one opens. */
  handOver(): void {
    this.#storing = this.#open;
    this.#open = new Layer();
  }

  /** LMDB has the group that was handed over, and whoever reads it sees that. */
  settle(): void {
    this.#storing = new Layer();
  }

  clear(): void {
    this.settle();
    this.#open = new Layer();
  }

  /** Whether anything of this sub-database is here. */
  has(store: Store): boolean {
    return this.#open.rows(store) !== undefined || this.#storing.rows(store) !== undefined;
  }

  /** The writes of a span in the order of their keys, or from its end; removals are among them. */
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
  /** Those texts in order that were there when somebody walked last. */
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

  // A change may walk and write by turns: only what has come since is put in order.
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

/** The place of the first text that is not before this one. */
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
 * The write that puts a value under a key, or takes the row away. Throws what the row's check
 * throws, e.g. `sealed`.
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

/** A key as text, a character for each byte. */
export function textOf(key: Uint8Array): string {
  return (
    Buffer.isBuffer(key) ? key : Buffer.from(key.buffer, key.byteOffset, key.length)
  ).toString("latin1");
}

/**
 * Entries as a reader finds them once these writes are stored: both in the order of their keys, or
 * from the end.
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
