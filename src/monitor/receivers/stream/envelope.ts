/**
 * Unwraps the values of a body: `{"time", "event", "fields"}` of Splunk's event collector,
 * `{"logs": […]}` and arrays, nested at most four deep. Times are inherited inwards.
 */

/** Times that the wrappers of a record carry. */
export interface Envelope {
  /** When the event happened: `time`, else `fields.recorded`, as RFC 3339. */
  readonly time: string | undefined;
  /** When it was recorded: `fields.recorded` as written. */
  readonly recorded: string | undefined;
}

/** Receives what a body contains. */
export interface RecordSink {
  /** An object that is no wrapper. */
  record(value: JsonObject, envelope: Envelope): void;
  /** A value where a record is expected: a scalar, or nested too deep. */
  dropped(): void;
}

export type JsonObject = Readonly<Record<string, unknown>>;

export const noEnvelope: Envelope = { time: undefined, recorded: undefined };

/** Wrappers around a record. */
export const MAX_WRAPPERS = 4;

/** Nanoseconds since 1970 fit into 64 bits up to the year 2262. */
const MAX_SECONDS = 2 ** 63 / 1e9;

/** Hands over the records inside of one parsed value that has `depth` wrappers around it. */
export function unwrap(value: unknown, depth: number, outer: Envelope, sink: RecordSink): void {
  if (depth > MAX_WRAPPERS || !isContainer(value)) return sink.dropped();
  if (Array.isArray(value)) {
    for (const child of value as readonly unknown[]) unwrap(child, depth + 1, outer, sink);
    return;
  }
  const object = value as JsonObject;
  if (Object.hasOwn(object, "event"))
    return unwrap(object["event"], depth + 1, envelopeOf(object, outer), sink);
  const logs = object["logs"];
  if (!Array.isArray(logs) || logs.length === 0) return sink.record(object, outer);
  const inner = envelopeOf(object, outer);
  for (const child of logs as readonly unknown[]) unwrap(child, depth + 1, inner, sink);
}

/** The times of a wrapper; the outer ones where it has none. */
export function envelopeOf(wrapper: JsonObject, outer: Envelope): Envelope {
  const { time, fields } = wrapper;
  const recorded =
    isContainer(fields) && "recorded" in fields && typeof fields.recorded === "string"
      ? fields.recorded
      : undefined;
  const written = epochTime(time) ?? recorded;
  return written === undefined && recorded === undefined
    ? outer
    : { time: written ?? outer.time, recorded: recorded ?? outer.recorded };
}

/** Seconds since 1970 as a number, or as a number in quotes. */
function epochTime(time: unknown): string | undefined {
  const seconds = typeof time === "string" && /^\d+(?:\.\d+)?$/.test(time) ? Number(time) : time;
  if (typeof seconds !== "number" || !(seconds > 0 && seconds <= MAX_SECONDS)) return undefined;
  return new Date(Math.round(seconds * 1000)).toISOString();
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
