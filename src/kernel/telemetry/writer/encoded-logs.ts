/**
 * Encodes log records as LogRecord messages of OTLP in the thread that writes them, so that they
 * cross threads as one buffer and the telemetry thread only joins them to requests.
 */
import { AttributeWriter, encodeKey } from "../attribute-writer.ts";
import type { EncodedLogs } from "../messages.ts";
import type { Attributes, Severity } from "../types.ts";
import type { LogRecord } from "./log-record.ts";

/** Fields of LogRecord. */
export const logFields = {
  time: 1,
  severityNumber: 2,
  severityText: 3,
  body: 5,
  attributes: 6,
  flags: 8,
  traceId: 9,
  spanId: 10,
  observedTime: 11,
  eventName: 12,
} as const;
/** SeverityNumber of the protocol. */
const SEVERITIES: Readonly<Record<Severity, number>> = { debug: 5, info: 9, warn: 13, error: 17 };
const SAMPLED = 1;
/** Of the buffer for one message at its begin: about 256 records. */
const FIRST_CAPACITY = 262_144;
const NANOSECONDS = 1_000_000n;

export interface LogEncoderOptions {
  /** Attributes of every record of a scope; they replace those of the same name. */
  readonly constantsOf: (scope: number) => Attributes;
  /** When records are observed that do not have a time of their own for it. */
  readonly now: () => number;
}

/** Encodes the records of one message. Numbers that are not finite become absent attributes. */
export class LogEncoder {
  readonly #options: LogEncoderOptions;
  readonly #writer: AttributeWriter = new AttributeWriter(FIRST_CAPACITY);
  readonly #layouts = new Map<number, ScopeLayout>();
  readonly #scopes: number[] = [];
  readonly #ends: number[] = [];
  readonly #cuts: NonNullable<LogRecord["cut"]>[] = [];

  constructor(options: LogEncoderOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#ends.length;
  }

  add(record: LogRecord): void {
    const { scope, cut } = record;
    const layout = this.#layouts.get(scope) ?? new ScopeLayout(this.#options.constantsOf(scope));
    this.#layouts.set(scope, layout);
    writeLog(this.#writer, record, { layout, nowMs: this.#options.now() });
    this.#scopes.push(scope);
    this.#ends.push(this.#writer.length);
    if (cut !== undefined) this.#cuts.push(cut);
  }

  /** Nothing may be added after it. */
  finish(): EncodedLogs {
    return {
      bytes: this.#writer.finish(),
      scopes: this.#scopes,
      ends: this.#ends,
      cuts: this.#cuts,
    };
  }
}

/** Encoded names of the attributes of one scope's records. */
class ScopeLayout {
  readonly constants: Uint8Array;
  readonly #replaced: ReadonlySet<string>;
  readonly #keys = new Map<readonly string[], readonly (Uint8Array | undefined)[]>();

  constructor(constants: Attributes) {
    this.#replaced = new Set(Object.keys(constants));
    const writer = new AttributeWriter(0);
    for (const [name, value] of Object.entries(constants))
      writer.attribute(logFields.attributes, encodeKey(name), value);
    this.constants = writer.finish();
  }

  /** In the order of the names; undefined where a constant replaces the attribute. */
  keysOf(names: readonly string[]): readonly (Uint8Array | undefined)[] {
    const known = this.#keys.get(names);
    if (known !== undefined) return known;
    const keys = names.map((name) => (this.#replaced.has(name) ? undefined : encodeKey(name)));
    this.#keys.set(names, keys);
    return keys;
  }
}

function writeLog(
  writer: AttributeWriter,
  record: LogRecord,
  { layout, nowMs }: { readonly layout: ScopeLayout; readonly nowMs: number },
): void {
  const { name, severity, body, names, values, timeMs, observedMs, trace } = record;
  writer.fixed64(logFields.time, nanoseconds(timeMs));
  writer.uint32(logFields.severityNumber, SEVERITIES[severity]);
  writer.text(logFields.severityText, severity.toUpperCase());
  writer.anyText(logFields.body, body);
  const keys = layout.keysOf(names);
  for (let at = 0; at < keys.length; at += 1) {
    const [key, value] = [keys[at], values[at]];
    if (key === undefined || value === undefined) continue;
    if (typeof value === "number" && !Number.isFinite(value)) continue;
    writer.attribute(logFields.attributes, key, value);
  }
  writer.raw(layout.constants);
  if (trace !== undefined) {
    writer.fixed32(logFields.flags, SAMPLED);
    writer.message(logFields.traceId, Buffer.from(trace.traceId, "hex"));
    writer.message(logFields.spanId, Buffer.from(trace.spanId, "hex"));
  }
  writer.fixed64(logFields.observedTime, nanoseconds(observedMs ?? nowMs));
  if (name !== "") writer.text(logFields.eventName, name);
}

function nanoseconds(ms: number): bigint {
  return Number.isFinite(ms) ? BigInt(Math.trunc(ms)) * NANOSECONDS : 0n;
}
