/** Merges the sums of a window over minutes and networks. */
import { Turns } from "../../kernel/async/turns.ts";
import { flowTables, tablesWith, type FlowTable } from "./bucket.ts";
import { BUCKET_MS, type FlowStore } from "./flow-store.ts";
import { Sum, type SumEntry } from "./sums.ts";

const MAX_POINTS = 720;
const MAX_CELLS = 400;

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
  stores: readonly FlowStore[],
  {
    startMs,
    endMs,
    top,
  }: { readonly startMs: number; readonly endMs: number; readonly top: number },
  signal: AbortSignal,
): Promise<WindowSums> {
  const turns = new Turns();
  const stepMs = stepOf(endMs - startMs);
  const merged = tablesWith(() => Infinity);
  const totals = new Sum();
  const slots = new Map<number, Sum>();
  let truncated = 0;
  let lastMs: number | undefined;
  for (const [beginMs, bucket] of stores.flatMap((store) => store.buckets(startMs, endMs))) {
    totals.add(bucket.totals);
    truncated += bucket.truncated;
    lastMs = Math.max(lastMs ?? 0, beginMs + BUCKET_MS);
    slotAt(slots, Math.floor(beginMs / stepMs) * stepMs).add(bucket.totals);
    for (const table of flowTables) {
      if (turns.over) await turns.give(signal);
      for (const [key, entry] of bucket.tables[table].entries()) merged[table].merge(key, entry);
    }
  }
  const ranked = {} as Record<FlowTable, readonly SumEntry[]>;
  for (const table of flowTables) {
    if (turns.over) await turns.give(signal);
    const entries = [...merged[table].entries()].map(([, entry]) => entry);
    const limit = limitOf(table, top);
    ranked[table] = entries.toSorted(table === "peerPaths" ? byRelayed : byBytes).slice(0, limit);
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
