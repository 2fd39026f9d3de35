/** Keys of the process: its log, which services run, its worker threads. */
import type { LogLevel } from "../../kernel/base/log.ts";
import { defineKey, type Key, type Schema } from "../../kernel/config/key.ts";
import { boolean, integer, oneOf } from "../../kernel/config/values/types.ts";

export const loggingLevel: Key<LogLevel> = defineKey({
  path: "logging.level",
  type: oneOf(["debug", "info", "warn", "error"]),
  default: "info",
  aliases: ["log_level"],
  help: "Minimum level of log lines.",
});

export const loggingFormat: Key<"text" | "json"> = defineKey({
  path: "logging.format",
  type: oneOf(["text", "json"]),
  default: "text",
  aliases: ["log_format"],
  help: "Format of log lines on standard error.",
});

export const servicesMonitor = defineKey({
  path: "services.monitor",
  type: boolean,
  default: true,
  help: "Runs the monitor. When off, its routes are 404 and its state is not opened. With neither a credential nor a receiver it is idle.",
});

export const servicesDedup = defineKey({
  path: "services.dedup",
  type: boolean,
  default: true,
  help: "Runs the document service. When off, its routes are 404 and its state is not opened.",
});

export const servicesTokens = defineKey({
  path: "services.tokens",
  type: boolean,
  default: true,
  help: "Runs the tokens service. When off, /v1 is 404 and its state is not opened.",
});

/** Worker threads for CPU-heavy work. */
export const poolThreads = defineKey({
  path: "pool.threads",
  type: integer(0, 256),
  default: 0,
  help: "Number of worker threads; 0 is one per core, as far as memory allows.",
});

export const processKeys: Schema = [
  loggingLevel,
  loggingFormat,
  servicesMonitor,
  servicesDedup,
  servicesTokens,
  poolThreads,
];
