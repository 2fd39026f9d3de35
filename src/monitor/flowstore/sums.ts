/** Traffic summed by names, with a limit of entries beyond which it goes to `__other__`. */
import type { Counters } from "../flows/record.ts";

/** Name of what exceeds a limit. */
const OTHER = "__other__";

/** Traffic, and the number of its connections. */
export interface Counts extends Counters {
  readonly flows: number;
}

/** Sums under the same names. */
export interface SumEntry {
  readonly names: readonly string[];
  readonly first: Sum;
  /** The other direction or path, in tables that have two. */
  readonly second: Sum;
}

export class Sum implements Counts {
  txBytes = 0;
  rxBytes = 0;
  txPackets = 0;
  rxPackets = 0;
  flows = 0;

  get bytes(): number {
    return this.txBytes + this.rxBytes;
  }

  addConnection(more: Counters): void {
    this.txBytes += more.txBytes;
    this.rxBytes += more.rxBytes;
    this.txPackets += more.txPackets;
    this.rxPackets += more.rxPackets;
    this.flows += 1;
  }

  add(more: Counts): void {
    this.txBytes += more.txBytes;
    this.rxBytes += more.rxBytes;
    this.txPackets += more.txPackets;
    this.rxPackets += more.rxPackets;
    this.flows += more.flows;
  }
}

/** The same traffic, seen from the other end. */
export function mirrored({ txBytes, rxBytes, txPackets, rxPackets, flows }: Counts): Counts {
  return { txBytes: rxBytes, rxBytes: txBytes, txPackets: rxPackets, rxPackets: txPackets, flows };
}

/** Faster than `join` for the one or two names that nearly all tables have. */
function keyOf(names: readonly string[]): string {
  const [one = "", two] = names;
  if (two === undefined) return one;
  return names.length === 2 ? `${one}\0${two}` : names.join("\0");
}

export class SumTable {
  readonly #maxEntries: number;
  readonly #created: (() => void) | undefined;
  readonly #entries = new Map<string, SumEntry>();
  #other: SumEntry | undefined;

  /** `created` is called for each new entry. */
  constructor(maxEntries: number, created?: () => void) {
    this.#maxEntries = maxEntries;
    this.#created = created;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** By unambiguous keys. */
  entries(): IterableIterator<[string, SumEntry]> {
    return this.#entries.entries();
  }

  /** False when the table is full and the traffic went to `__other__`. */
  add(names: readonly string[], side: "first" | "second", counts: Counts): boolean {
    const key = keyOf(names);
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known[side].add(counts);
      return true;
    }
    if (this.#entries.size < this.#maxEntries) {
      this.#create(key, names)[side].add(counts);
      return true;
    }
    this.#other ??= this.#otherOf(names.length);
    this.#other[side].add(counts);
    return false;
  }

  /** Adds both sides of an entry of another table under its key; false as `add` has it. */
  merge(key: string, { names, first, second }: SumEntry): boolean {
    const known = this.#entries.get(key);
    const fits = known !== undefined || this.#entries.size < this.#maxEntries;
    const entry =
      known ?? (fits ? this.#create(key, names) : (this.#other ??= this.#otherOf(names.length)));
    entry.first.add(first);
    entry.second.add(second);
    return fits;
  }

  #otherOf(length: number): SumEntry {
    const names = Array.from({ length }, () => OTHER);
    const key = names.join("\0");
    return this.#entries.get(key) ?? this.#create(key, names);
  }

  #create(key: string, names: readonly string[]): SumEntry {
    const entry = { names, first: new Sum(), second: new Sum() };
    this.#entries.set(key, entry);
    this.#created?.();
    return entry;
  }
}
