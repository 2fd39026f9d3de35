/**
 * Log records on their way between threads: one JSON text for all records of a message. Cloning
 * them as objects costs several times as much.
 */
import type { PackedLogs, WireLog } from "./messages.ts";
import type { AttributeValue } from "./types.ts";

type PackedLog = Omit<WireLog, "names" | "values" | "observedMs" | "trace"> &
  Partial<Pick<WireLog, "observedMs" | "trace">> & {
    /** Index of the list of names. */
    readonly names: number;
    readonly values: readonly (AttributeValue | null)[];
  };

/** Distinct lists of attribute names, then the records. Numbers that JSON does not have become absent attributes. */
export function packLogs(records: readonly WireLog[]): PackedLogs {
  const lists = new Map<readonly string[], number>();
  const packed = records.map((record) => {
    const names = lists.get(record.names) ?? lists.size;
    lists.set(record.names, names);
    return { ...record, names };
  });
  return { count: records.length, text: JSON.stringify([[...lists.keys()], packed]) };
}

export function unpackLogs({ text }: PackedLogs): readonly WireLog[] {
  const [lists, packed] = JSON.parse(text) as [
    readonly (readonly string[])[],
    readonly PackedLog[],
  ];
  return packed.map((record) => ({
    ...record,
    names: lists[record.names] ?? [],
    values: record.values.map((value) => value ?? undefined),
    observedMs: record.observedMs,
    trace: record.trace,
  }));
}
