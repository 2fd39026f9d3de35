/** Merges the sums of a window over minutes and networks. */
import { Turns } from "../../kernel/async/turns.ts";
import { BUCKET_MS, flowTables, tablesWith, type FlowTable } from "./bucket.ts";
import type { FlowStore } from "./flow-store.ts";
import { Sum, type SumEntry } from "./sums.ts";

const MAX_POINTS = 720;
const MAX_CELLS = 400;
/** Entries that are sorted together with those kept. */
const FEW = 1_000;
/** Entries of each table that a window has at most; the rest is `__other__`. */
const MAX_ENTRIES = 100_000;

/** Milliseconds since 1970 and lengths in milliseconds. */
export interface WindowSums {
  readonly stepMs: number;
  readonly totals: Sum;
  /** Steps with traffic, by time. */
  readonly series: readonly (readonly [number, Sum])[];
  /** Entries of each table: the busiest first, names break ties. */
  readonly ranked: Readonly<Record<FlowTable, readonly SumEntry[]>>;
  /** Observations with a part in `__other__`. */
  readonly truncated: number;
  /** End of the last minute with traffic; undefined without any. */
  readonly lastMs: number | undefined;
}

/**
 * Works in slices; traffic that arrives meanwhile may be in some sums and not in others. Rejects
 * with the signal's reason.
 */
export async function sumWindow(
  stores: readonly Pick<FlowStore, "parts">[],
  {
    startMs,
    endMs,
    top,
  }: { readonly startMs: number; readonly endMs: number; readonly top: number },
  signal: AbortSignal,
): Promise<WindowSums> {
  const turns = new Turns();
  const stepMs = stepOf(endMs - startMs);
  const merged = tablesWith(() => MAX_ENTRIES);
  const totals = new Sum();
  const slots = new Map<number, Sum>();
  let truncated = 0;
  let lastMs: number | undefined;
  for (const store of stores)
    for await (const part of store.parts({ startMs, endMs }, signal)) {
      truncated += part.truncated;
      for (const [beginMs, counts] of part.minutes) {
        totals.add(counts);
        lastMs = Math.max(lastMs ?? 0, beginMs + BUCKET_MS);
        slotAt(slots, Math.floor(beginMs / stepMs) * stepMs).add(counts);
      }
      for (const table of flowTables) {
        if (turns.over) await turns.give(signal);
        for (const [key, entry] of part.tables[table].entries())
          if (!merged[table].merge(key, entry)) truncated += entry.first.flows + entry.second.flows;
      }
    }
  const ranked = {} as Record<FlowTable, readonly SumEntry[]>;
  for (const table of flowTables) {
    const order = table === "peerPaths" ? byRelayed : byBytes;
    const first = new First(limitOf(table, top), order);
    for (const [, entry] of merged[table].entries()) {
      if (turns.over) await turns.give(signal);
      first.add(entry);
    }
    ranked[table] = first.entries();
  }
  return {
    stepMs,
    totals,
    series: [...slots].toSorted(([left], [right]) => left - right),
    ranked,
    truncated,
    lastMs,
  };
}

/** The first entries in an order. Sorts once for as many as are kept. */
class First {
  readonly #limit: number;
  readonly #order: (left: SumEntry, right: SumEntry) => number;
  #entries: SumEntry[] = [];

  constructor(limit: number, order: (left: SumEntry, right: SumEntry) => number) {
    this.#limit = limit;
    this.#order = order;
  }

  add(entry: SumEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * this.#limit + FEW) this.#cut();
  }

  entries(): readonly SumEntry[] {
    this.#cut();
    return this.#entries;
  }

  #cut(): void {
    this.#entries = this.#entries.sort(this.#order).slice(0, this.#limit);
  }
}

/** Rules are listed completely. */
function limitOf(table: FlowTable, top: number): number {
  if (table === "rules") return Infinity;
  return table.endsWith("Matrix") ? MAX_CELLS : top;
}

function stepOf(windowMs: number): number {
  let stepMs = BUCKET_MS;
  while (windowMs / stepMs > MAX_POINTS) stepMs *= 2;
  return stepMs;
}

function slotAt(slots: Map<number, Sum>, timeMs: number): Sum {
  const known = slots.get(timeMs);
  if (known !== undefined) return known;
  const slot = new Sum();
  slots.set(timeMs, slot);
  return slot;
}

function byBytes(left: SumEntry, right: SumEntry): number {
  return (
    right.first.bytes + right.second.bytes - left.first.bytes - left.second.bytes ||
    byNames(left, right)
  );
}

/** Relayed traffic is the second side. */
function byRelayed(left: SumEntry, right: SumEntry): number {
  return (
    right.second.bytes - left.second.bytes ||
    right.first.bytes - left.first.bytes ||
    byNames(left, right)
  );
}

function byNames(left: SumEntry, right: SumEntry): number {
  const [a, b] = [left.names.join("\0"), right.names.join("\0")];
  return a < b ? -1 : Number(a > b);
}
