/**
 * Presence as small documents of a network's evidence: one of spans, one for each device, one for
 * each day.
 */
import type { Evidence } from "../checkpoints/types.ts";
import type { ObservedSpan, PresenceChange, PresenceCount, PresenceState } from "./types.ts";

export const SPANS_KEY = "presence/spans";
const DEVICE_PREFIX = "presence/device/";
const DAY_PREFIX = "presence/day/";
/** Longest id in a key; those of control planes are much shorter. */
export const MAX_ID_LENGTH = 256;

const STATES: readonly PresenceState[] = ["online", "offline", "gone"];

export interface DeviceRow {
  name: string;
  changes: PresenceChange[];
}

/** Counts by the hour of one day, 0 to 23. */
export type DayRow = Map<number, PresenceCount>;

export function deviceKey(id: string): string {
  return `${DEVICE_PREFIX}${id}`;
}

export function dayKey(dayMs: number): string {
  return `${DAY_PREFIX}${new Date(dayMs).toISOString().slice(0, 10)}`;
}

/** What was stored; a document of another shape is left out. */
export function readRows(evidence: Evidence): {
  readonly spans: ObservedSpan[];
  readonly devices: Map<string, DeviceRow>;
  readonly days: Map<number, DayRow>;
} {
  const devices = new Map<string, DeviceRow>();
  for (const [key, value] of evidence.list(DEVICE_PREFIX)) {
    const row = readDevice(value);
    if (row !== undefined) devices.set(key.slice(DEVICE_PREFIX.length), row);
  }
  const days = new Map<number, DayRow>();
  for (const [key, value] of evidence.list(DAY_PREFIX)) {
    const dayMs = Date.parse(key.slice(DAY_PREFIX.length));
    if (!Number.isNaN(dayMs)) days.set(dayMs, readDay(value, dayMs));
  }
  return { spans: readSpans(evidence.get(SPANS_KEY)), devices, days };
}

/** `[name, time, state, time, state, …]`, states as numbers. */
export function writeDevice({ name, changes }: DeviceRow): unknown {
  return [name, ...changes.flatMap(({ atMs, state }) => [atMs, STATES.indexOf(state)])];
}

function readDevice(value: unknown): DeviceRow | undefined {
  const [name, ...numbers] = listOf(value);
  if (typeof name !== "string") return undefined;
  const changes = groups(numbers, 2).flatMap(([atMs = 0, state = 0]) => {
    const known = STATES[state];
    return known === undefined ? [] : [{ atMs, state: known }];
  });
  return changes.length === 0 ? undefined : { name, changes };
}

/** `[from, to, from, to, …]`. */
export function writeSpans(spans: readonly ObservedSpan[]): unknown {
  return spans.flatMap(({ fromMs, toMs }) => [fromMs, toMs]);
}

function readSpans(value: unknown): ObservedSpan[] {
  return groups(listOf(value), 2).map(([fromMs = 0, toMs = 0]) => ({ fromMs, toMs }));
}

/** `[hour, devices, online, …]`. */
export function writeDay(day: DayRow): unknown {
  return [...day].flatMap(([hour, { devices, online }]) => [hour, devices, online]);
}

const HOUR_MS = 3_600_000;

function readDay(value: unknown, dayMs: number): DayRow {
  return new Map(
    groups(listOf(value), 3).map(([hour = 0, devices = 0, online = 0]) => [
      hour,
      { atMs: dayMs + hour * HOUR_MS, devices, online },
    ]),
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Groups of so many numbers; what is no number or incomplete is left out. */
function groups(values: readonly unknown[], size: number): number[][] {
  const numbers = values.filter((value) => typeof value === "number");
  return Array.from({ length: Math.floor(numbers.length / size) }, (_, at) =>
    numbers.slice(at * size, (at + 1) * size),
  );
}
