/** The log: one line per event on standard error, as text for people or JSON for machines. */
import { pino } from "pino";
import { Concealment } from "./log/concealment.ts";
import { StewardError } from "./errors.ts";
import { RepeatLimit } from "./log/repeat-limit.ts";
import type { Secret } from "./secret.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

/** Attributes of a line. Secrets print as `[secret]`. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * Writes lines; `child` adds attributes to every line of the child. When a name repeats, also
 * `component`, the innermost value is written.
 */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  child(component: string, fields?: LogFields): Log;
}

/** A line as written: every value is JSON, secrets are `[secret]`. */
export interface LogLine {
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  readonly level: LogLevel;
  readonly component: string | undefined;
  readonly message: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The root of all logs of the process. */
export interface RootLog extends Log {
  /** Lines below it are not written. */
  readonly level: LogLevel;
  /** Writes a line of another thread's log in the format `json`, with its original time. */
  relay(line: string): void;
  /**
   * Calls back synchronously for every line written from now on, including children's. Errors of
   * the callback reach the caller.
   */
  tap(listener: (line: LogLine) => void): Disposable;
  /** Adds the result of `fields` to every line; a line's own attributes win. One at a time. */
  relate(fields: () => LogFields): Disposable;
  /**
   * Replaces these values by `[secret]` in every line from now on, in every form that `Concealment`
   * knows. Values shorter than 8 characters are not replaced.
   */
  conceal(secrets: Iterable<Secret>): void;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: "text" | "json";
  /** Receives whole lines, newline included. */
  readonly write: (line: string) => void;
  /** Milliseconds since 1970, for the `time` of a line. */
  readonly now: () => number;
  /**
   * Whether equal warnings and errors are written once in five minutes; default true, false where
   * another log does it.
   */
  readonly limitRepeats?: boolean;
}

/** Callbacks for written lines. */
type Taps = ReadonlySet<(line: LogLine) => void>;

export function createLog(options: LogOptions): RootLog {
  const taps = new Set<(line: LogLine) => void>();
  const concealment = new Concealment();
  const repeats = options.limitRepeats === false ? undefined : new RepeatLimit(options.now);
  const take = (written: string): void =>
    writeLine(concealment.apply(written), options, { taps, repeats });
  let related: (() => LogFields) | undefined;
  const base = pino(
    {
      level: options.level,
      base: null,
      messageKey: "msg",
      timestamp: () => `,"time":"${new Date(options.now()).toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describeError },
    },
    { write: take },
  );
  return {
    ...wrap(base, () => related?.(), {}),
    level: options.level,
    relay: take,
    tap(listener) {
      // The same function may be registered twice; each registration is disposed on its own.
      const own = (line: LogLine): void => listener(line);
      taps.add(own);
      return { [Symbol.dispose]: () => void taps.delete(own) };
    },
    relate(fields) {
      related = fields;
      return { [Symbol.dispose]: () => void (related = related === fields ? undefined : related) };
    },
    conceal: (secrets) => concealment.add(secrets),
  };
}

function writeLine(
  written: string,
  { format, write }: LogOptions,
  { taps, repeats }: { readonly taps: Taps; readonly repeats: RepeatLimit | undefined },
): void {
  const limit = LIMITED.test(written) ? repeats : undefined;
  if (format === "json" && taps.size === 0 && limit === undefined) return write(written);
  const line = JSON.parse(written) as Parsed;
  const leftOut = limit === undefined ? 0 : limit.admit(line);
  if (leftOut === undefined) return;
  const shown = leftOut === 0 ? line : { ...line, repeated: leftOut };
  if (format === "text") write(formatText(shown));
  else write(leftOut === 0 ? written : `${JSON.stringify(shown)}\n`);
  const { time, level, msg, component, ...attributes } = shown;
  for (const tap of taps)
    tap({
      timeMs: Date.parse(time),
      level,
      message: String(msg),
      component: typeof component === "string" ? component : undefined,
      attributes,
    });
}

// pino writes the level first.
const LIMITED = /^\{"level":"(?:warn|error)"/;

type Parsed = Readonly<Record<string, unknown>> & {
  readonly time: string;
  readonly level: LogLevel;
};

type PinoLike = Pick<
  ReturnType<typeof pino>,
  "debug" | "info" | "warn" | "error" | "isLevelEnabled"
>;

// Attributes are merged here instead of by pino's children, which repeat a name each time it is
// given.
function wrap(logger: PinoLike, related: () => LogFields | undefined, own: LogFields): Log {
  const at =
    (level: LogLevel) =>
    (message: string, fields?: LogFields): void => {
      if (logger.isLevelEnabled(level)) logger[level]({ ...own, ...related(), ...fields }, message);
    };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (component, fields) => wrap(logger, related, { ...own, component, ...fields }),
  };
}

// Causes are hidden from clients, but the operator's log has the whole chain; stacks only for
// programming errors.
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return isExpected(error) ? describeExpected(error) : describeUnexpected(error);
}

function isExpected(error: unknown): boolean {
  return (
    error instanceof StewardError &&
    error.code !== "internal" &&
    (!(error.cause instanceof StewardError) || isExpected(error.cause))
  );
}

/** The message, and the messages of foreign causes. */
function describeExpected(error: Error): unknown {
  const { code, message } = error as StewardError;
  let root: unknown = error.cause;
  while (root instanceof StewardError) root = root.cause;
  const words = root instanceof Error ? root.message.split("\n", 1)[0] : undefined;
  return {
    type: error.name,
    code,
    message,
    ...(words === undefined || words === "" || message.includes(words) ? {} : { cause: words }),
  };
}

function describeUnexpected(error: Error): unknown {
  const cause = error.cause === undefined ? undefined : describeError(error.cause);
  const { name, message, stack } = error;
  const { code } = error as { readonly code?: unknown };
  return {
    type: name,
    ...(typeof code === "string" ? { code } : {}),
    message,
    stack,
    ...(cause === undefined ? {} : { cause }),
  };
}

function formatText({ time, level, msg, component, ...rest }: Parsed): string {
  const attributes = Object.entries(rest)
    .map(([key, value]) => ` ${key}=${formatValue(value)}`)
    .join("");
  const where = typeof component === "string" ? ` ${component}:` : "";
  return `${time} ${level.padEnd(5)}${where} ${String(msg)}${attributes}\n`;
}

function formatValue(value: unknown): string {
  if (typeof value === "string" && /^[^\s"=]+$/.test(value)) return value;
  return JSON.stringify(value);
}
