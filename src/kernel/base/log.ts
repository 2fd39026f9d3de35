/** The log: lines on standard error, one shape, text for people or JSON for machines (RESOLUTIONS §2, Logs). */
import { pino } from "pino";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Attributes of a line. Secrets print as `[secret]`. */
export type LogFields = Readonly<Record<string, unknown>>;

/** Writes lines; `child` adds attributes to every line of the child. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  child(component: string, fields?: LogFields): Log;
}

/** How and where lines are written. */
export interface LogOptions {
  readonly level: LogLevel;
  readonly format: "text" | "json";
  /** Takes whole lines, newline included. */
  readonly write: (line: string) => void;
  /** Milliseconds since 1970, for the `time` of a line. */
  readonly now: () => number;
}

/** A log over any sink. */
export function createLog(options: LogOptions): Log {
  const stream = { write: (line: string) => options.write(options.format === "json" ? line : formatText(line)) };
  const base = pino({
    level: options.level, base: null, messageKey: "msg",
    timestamp: () => `,"time":"${new Date(options.now()).toISOString()}"`,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { error: describeError },
  }, stream);
  return wrap(base);
}

type PinoLike = Pick<ReturnType<typeof pino>, "debug" | "info" | "warn" | "error" | "child">;

function wrap(logger: PinoLike): Log {
  return {
    debug: (message, fields) => logger.debug(fields ?? {}, message),
    info: (message, fields) => logger.info(fields ?? {}, message),
    warn: (message, fields) => logger.warn(fields ?? {}, message),
    error: (message, fields) => logger.error(fields ?? {}, message),
    child: (component, fields) => wrap(logger.child({ component, ...fields })),
  };
}

// Causes stay out of the answer to a client, but the operator's log has the whole chain.
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const cause = error.cause === undefined ? undefined : describeError(error.cause);
  return { message: error.message, stack: error.stack, ...(cause === undefined ? {} : { cause }) };
}

function formatText(line: string): string {
  const { time, level, msg, component, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const attributes = Object.entries(rest).map(([key, value]) => ` ${key}=${formatValue(value)}`).join("");
  const where = typeof component === "string" ? ` ${component}:` : "";
  return `${String(time)} ${String(level).padEnd(5)}${where} ${String(msg)}${attributes}\n`;
}

function formatValue(value: unknown): string {
  if (typeof value === "string" && /^[^\s"=]+$/.test(value)) return value;
  return JSON.stringify(value);
}
