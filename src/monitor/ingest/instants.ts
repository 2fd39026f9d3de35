/** Times as records write them: RFC 3339 text, read once for all records that repeat it. */
import { parseTime } from "../../kernel/wire/time.ts";

/** A point in time. */
export interface Instant {
  /** Milliseconds since 1970, cut. */
  readonly ms: number;
  /** Equal for equal points, whatever zone or precision wrote them, down to the nanosecond. */
  readonly key: string;
  /** As it was written. */
  readonly text: string;
}

/** Reads times. */
export interface InstantReader {
  /**
   * Undefined for nothing, and for the year 1, by which upstreams say "never"; `invalid` for what
   * is no time.
   */
  read(value: unknown): Instant | undefined | "invalid";
}

/** Texts remembered; all are forgotten when they are more. */
const MOST_TEXTS = 1_024;
/** What the upstream writes for no time is before this. */
const FIRST_MS = Date.parse("0002-01-01T00:00:00Z");

/** A reader with nothing remembered. */
export function createInstantReader(): InstantReader {
  const known = new Map<string, Instant | undefined | "invalid">();
  return {
    read(value) {
      if (value === undefined || value === null || value === "") return undefined;
      if (typeof value !== "string") return "invalid";
      const found = known.get(value);
      if (found !== undefined || known.has(value)) return found;
      if (known.size >= MOST_TEXTS) known.clear();
      const read = readInstant(value);
      known.set(value, read);
      return read;
    },
  };
}

function readInstant(text: string): Instant | undefined | "invalid" {
  const time = parseTime(text);
  if (time === undefined) return "invalid";
  const ms = Number(time.seconds) * 1_000 + Math.floor(time.nanos / 1_000_000);
  return ms < FIRST_MS
    ? undefined
    : { ms, key: time.nanos === 0 ? `${time.seconds}` : `${time.seconds}.${time.nanos}`, text };
}
