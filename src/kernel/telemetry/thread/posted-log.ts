/**
 * The log of the telemetry thread: few lines, which the host writes. Of an error only its message
 * crosses.
 */
import type { Log, LogFields } from "../../base/log.ts";
import type { HostReply } from "../messages.ts";

type Line = Extract<HostReply, { type: "log" }>;

/** Debugging stays in the thread: a client could make as many such lines as it likes. */
export function createPostedLog(post: (line: Line) => void): Log {
  const write =
    (level: Line["level"]) =>
    (message: string, fields: LogFields = {}): void =>
      post({ type: "log", level, message, fields: plain(fields) });
  const log: Log = {
    debug: () => undefined,
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: () => log,
  };
  return log;
}

function plain(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) =>
      value instanceof Error ? ["reason", value.message] : [name, value],
    ),
  );
}
