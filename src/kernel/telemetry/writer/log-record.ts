/** Builds log records for the telemetry thread from catalogue rows and from log lines. */
import type { LogLine } from "../../base/log.ts";
import type { TraceIds, AnyLogRow, AttributeValue, LogFields, Severity } from "../types.ts";

/** A record that waits for a message. */
export interface LogRecord {
  readonly scope: number;
  /** The event's name; empty for a log line. */
  readonly name: string;
  readonly severity: Severity;
  readonly body: string;
  /** Of its attributes; records of one row share the list. */
  readonly names: readonly string[];
  /** In the order of the names; undefined where absent. */
  readonly values: readonly (AttributeValue | undefined)[];
  readonly timeMs: number;
  readonly observedMs: number | undefined;
  readonly trace: TraceIds | undefined;
  /** Truncated bytes of its body and its attributes, if any. */
  readonly cut: { readonly body: number; readonly attribute: number } | undefined;
}

/** Longer texts are truncated and marked. Characters. */
export interface LogLimits {
  readonly body: number;
  readonly attribute: number;
}

/** Defaults. */
export const defaultLogLimits: LogLimits = { body: 32_768, attribute: 4_096 };

const MARK = "…[truncated]";
// Identities of zeros only are invalid.
const TRACE_ID = /^(?!0+$)[0-9a-f]{32}$/;
const SPAN_ID = /^(?!0+$)[0-9a-f]{16}$/;

/** A record of the catalogue; attributes not on the row are dropped. */
export function recordOfRow(
  scope: number,
  row: AnyLogRow,
  fields: LogFields,
  { nowMs, limits, trace }: { nowMs: number; limits: LogLimits; trace?: TraceIds | undefined },
): LogRecord {
  const cutter = new Cutter();
  const values = row.attributes.map((attribute) => {
    const value = fields.attributes[attribute];
    return typeof value === "string" ? cutter.cut("attribute", value, limits.attribute) : value;
  });
  const name = row.family && fields.type !== undefined ? `${row.name}.${fields.type}` : row.name;
  const body = cutter.cut("body", fields.body, limits.body);
  return {
    scope,
    name,
    severity: fields.severity ?? row.severity,
    body,
    names: row.attributes,
    values,
    timeMs: fields.timeMs ?? nowMs,
    observedMs: fields.observedMs,
    trace,
    cut: cutter.cutBytes(),
  };
}

/** A log line. Errors become attributes of the semantic conventions, other structures JSON. */
export function recordOfLine(scope: number, line: LogLine, limits: LogLimits): LogRecord {
  const { trace_id: traceId, span_id: spanId, error, ...rest } = line.attributes;
  const trace = traceOf(line.attributes);
  const named = {
    ...rest,
    ...(trace === undefined ? { trace_id: traceId, span_id: spanId } : {}),
    component: line.component,
    ...exceptionOf(error),
  };
  const attributes: Record<string, AttributeValue> = {};
  const cutter = new Cutter();
  for (const [name, value] of Object.entries(named)) {
    const shown = attributeOf(value, (text) => cutter.cut("attribute", text, limits.attribute));
    if (shown !== undefined) attributes[name] = shown;
  }
  const body = cutter.cut("body", line.message, limits.body);
  return {
    scope,
    name: "",
    severity: line.level,
    body,
    names: Object.keys(attributes),
    values: Object.values(attributes),
    timeMs: line.timeMs,
    observedMs: undefined,
    trace,
    cut: cutter.cutBytes(),
  };
}

/** The span identified by the fields of a log line; undefined without one. */
export function traceOf({
  trace_id: traceId,
  span_id: spanId,
}: Readonly<Record<string, unknown>>): TraceIds | undefined {
  if (typeof traceId !== "string" || typeof spanId !== "string") return undefined;
  return TRACE_ID.test(traceId) && SPAN_ID.test(spanId) ? { traceId, spanId } : undefined;
}

/** An expected failure has no stack; its message includes the messages of foreign causes. */
function exceptionOf(error: unknown): Readonly<Record<string, unknown>> {
  if (typeof error !== "object" || error === null) return { error };
  const { type, message, cause } = error as {
    readonly type?: unknown;
    readonly message?: unknown;
    readonly cause?: unknown;
  };
  if (hasStack(error))
    return {
      "exception.type": type,
      "exception.message": message,
      "exception.stacktrace": stackOf(error),
    };
  return {
    "exception.type": type,
    "exception.message": typeof cause === "string" ? `${String(message)}: ${cause}` : message,
  };
}

function hasStack(error: unknown): boolean {
  if (typeof error !== "object" || error === null) return false;
  const { stack, cause } = error as { readonly stack?: unknown; readonly cause?: unknown };
  return typeof stack === "string" || hasStack(cause);
}

/** An error's stack with those of its causes. */
function stackOf(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null)
    return error === undefined ? undefined : JSON.stringify(error);
  const { stack, message, cause } = error as {
    readonly stack?: unknown;
    readonly message?: unknown;
    readonly cause?: unknown;
  };
  const below = stackOf(cause);
  return `${typeof stack === "string" ? stack : String(message)}${below === undefined ? "" : `\nCaused by: ${below}`}`;
}

function attributeOf(value: unknown, cut: (text: string) => string): AttributeValue | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "number" || typeof value === "boolean") return value;
  return cut(typeof value === "string" ? value : JSON.stringify(value));
}

/** Truncates the texts of one record and counts the bytes removed. */
class Cutter {
  #bytes: LogRecord["cut"];

  cut(field: "body" | "attribute", text: string, characters: number): string {
    if (text.length <= characters) return text;
    const kept = start(text, characters);
    const { body, attribute } = this.#bytes ?? { body: 0, attribute: 0 };
    const removed = Buffer.byteLength(text) - Buffer.byteLength(kept);
    this.#bytes =
      field === "body"
        ? { body: body + removed, attribute }
        : { body, attribute: attribute + removed };
    return `${kept}${MARK}`;
  }

  cutBytes(): LogRecord["cut"] {
    return this.#bytes;
  }
}

/**
 * The start of a text that is too long: at most this many characters including the mark, never half
 * a surrogate pair.
 */
function start(text: string, characters: number): string {
  return text.slice(0, Math.max(0, characters - MARK.length)).replace(/[\uD800-\uDBFF]$/, "");
}
