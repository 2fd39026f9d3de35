/**
 * Formats and parses timestamps as RFC 3339 text in UTC, in three precisions: seconds, milliseconds
 * and nanoseconds.
 */
import { create } from "@bufbuild/protobuf";
import { TimestampSchema, type Timestamp } from "@bufbuild/protobuf/wkt";
import { assert } from "../base/errors.ts";

/**
 * Whole seconds, always three digits, or up to nine digits without trailing zeros. All truncate.
 */
export type TimePrecision = "seconds" | "milliseconds" | "nanoseconds";

/** Means "never" to readers of the monitor's documents. */
export const ZERO_TIME = "0001-01-01T00:00:00Z";

const FIRST_SECOND = -62_135_596_800;
const LAST_SECOND = 253_402_300_799;

/** Formats a time between the years 1 and 9999; anything else is a programming error. */
export function formatTime(time: Timestamp, precision: TimePrecision): string {
  const seconds = Number(time.seconds);
  assert(
    seconds >= FIRST_SECOND &&
      seconds <= LAST_SECOND &&
      time.nanos >= 0 &&
      time.nanos <= 999_999_999,
    `timestamp ${time.seconds}s ${time.nanos}ns is outside of the years 1 to 9999`,
  );
  if (precision === "milliseconds")
    return new Date(seconds * 1000 + Math.floor(time.nanos / 1_000_000)).toISOString();
  const whole = new Date(seconds * 1000).toISOString().slice(0, 19);
  if (precision === "seconds" || time.nanos === 0) return `${whole}Z`;
  return `${whole}.${String(time.nanos).padStart(9, "0").replace(/0+$/, "")}Z`;
}

const RFC3339 =
  /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2})$/;

/** Parses RFC 3339 text with any offset; undefined when it is invalid or not a real date. */
export function parseTime(text: string): Timestamp | undefined {
  const [, day, clock, fraction = "", zone = ""] = RFC3339.exec(text) ?? [];
  if (day === undefined || clock === undefined) return undefined;
  const local = Date.parse(`${day}T${clock}Z`);
  // Date.parse turns 30 February into March, and accepts 24:00:00.
  if (Number.isNaN(local) || new Date(local).toISOString().slice(0, 19) !== `${day}T${clock}`)
    return undefined;
  const offsetMs = zoneOffsetMs(zone);
  if (offsetMs === undefined) return undefined;
  const seconds = (local - offsetMs) / 1000;
  if (seconds < FIRST_SECOND || seconds > LAST_SECOND) return undefined;
  return create(TimestampSchema, {
    seconds: BigInt(seconds),
    nanos: Number(fraction.padEnd(9, "0")),
  });
}

function zoneOffsetMs(zone: string): number | undefined {
  if (zone === "Z" || zone === "z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}
