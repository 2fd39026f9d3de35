/** The log of a plugin: JSON lines on standard error, in the form that the host reads and levels. */
import { createLog, type LogLevel, type RootLog } from "../../kernel/base/log.ts";

/** The host reads lines of at most 64 KiB, and splits longer ones. */
const MAX_LINE_BYTES = 60 * 1024;

export interface HclogOptions {
  readonly level: LogLevel;
  /** Receives whole lines, newline included. */
  readonly write: (line: string) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export function createHclog({ level, write, now }: HclogOptions): RootLog {
  return createLog({ level, format: "json", now, write: (line) => write(toHclog(line)) });
}

function toHclog(line: string): string {
  const { level, time, msg, component, ...fields } = JSON.parse(line) as Readonly<
    Record<string, unknown>
  >;
  const head = {
    "@level": level,
    "@message": msg,
    "@module": typeof component === "string" ? `steward.${component}` : "steward",
    // The host wants microseconds.
    "@timestamp": String(time).replace("Z", "000Z"),
  };
  const whole = JSON.stringify({ ...head, ...fields });
  if (Buffer.byteLength(whole) <= MAX_LINE_BYTES) return `${whole}\n`;
  const message = String(msg).slice(0, MAX_LINE_BYTES / 8);
  return `${JSON.stringify({ ...head, "@message": message, cut: true })}\n`;
}
