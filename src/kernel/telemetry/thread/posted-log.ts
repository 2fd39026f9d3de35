/** Log of the telemetry thread, written by the host. Of an error only the message is sent. */
import type { Log, LogFields } from "../../base/log.ts";
import type { HostReply } from "../messages.ts";

type Line = Extract<HostReply, { type: "log" }>;

/** Debug lines are dropped: a client could cause any number of them. */
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
