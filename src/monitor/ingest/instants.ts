/** Parses RFC 3339 times, with a cache for repeated texts. */
import { parseTime } from "../../kernel/wire/time.ts";

/** A point in time. */
export interface Instant {
  /** Milliseconds since 1970, truncated. */
  readonly ms: number;
  /** Equal for equal instants in any zone or precision, down to the nanosecond. */
  readonly key: string;
  /** As written. */
  readonly text: string;
}

export interface InstantReader {
  /**
   * Undefined for an absent value and for the year 1 (upstream's "never"); `invalid` for anything
   * that is no time.
   */
  read(value: unknown): Instant | undefined | "invalid";
}

/** Cached texts; the cache is cleared when full. */
const MAX_TEXTS = 1_024;
/** Earlier times are upstream's zero time. */
const FIRST_MS = Date.parse("0002-01-01T00:00:00Z");

/** What control planes write, but for the last days of a month. */
const UTC_MILLISECONDS =
  /^\d{4}-\d{2}-(?:[01]\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/;
/** Seconds before 1970 are rounded differently. */
const FIRST_PLAIN_MS = 0;

export function createInstantReader(): InstantReader {
  const known = new Map<string, Instant | undefined | "invalid">();
  return {
    read(value) {
      if (value === undefined || value === null || value === "") return undefined;
      if (typeof value !== "string") return "invalid";
      const found = known.get(value);
      if (found !== undefined || known.has(value)) return found;
      if (known.size >= MAX_TEXTS) known.clear();
      const read = readInstant(value);
      known.set(value, read);
      return read;
    },
  };
}

function readInstant(text: string): Instant | undefined | "invalid" {
  const plainMs = UTC_MILLISECONDS.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse accepts 30 February, which a day below 29 cannot be.
  if (plainMs >= FIRST_PLAIN_MS) return { ms: plainMs, key: keyOf(plainMs), text };
  const time = parseTime(text);
  if (time === undefined) return "invalid";
  const ms = Number(time.seconds) * 1_000 + Math.floor(time.nanos / 1_000_000);
  return ms < FIRST_MS
    ? undefined
    : { ms, key: time.nanos === 0 ? `${time.seconds}` : `${time.seconds}.${time.nanos}`, text };
}

function keyOf(ms: number): string {
  const nanos = (ms % 1_000) * 1_000_000;
  const seconds = Math.floor(ms / 1_000);
  return nanos === 0 ? `${seconds}` : `${seconds}.${nanos}`;
}
