/**
 * Redirects console output of libraries to the log: lmdb prints each failed write there, besides
 * rejecting its promise.
 */
import { format } from "node:util";
import type { Log } from "../log.ts";

/** Maximum length of a logged text. */
const MAX_TEXT_LENGTH = 500;

/**
 * From now on console calls of this thread become log warnings: of an error the first line, without
 * the stack.
 */
export function logConsole(log: Pick<Log, "warn">): void {
  const write = (...parts: readonly unknown[]): void => {
    const [text = ""] = format(
      ...parts.map((part) => (part instanceof Error ? `${part.name}: ${part.message}` : part)),
    ).split("\n", 1);
    log.warn("a library wrote to the console", { text: text.slice(0, MAX_TEXT_LENGTH) });
  };
  for (const method of ["error", "warn", "info", "log", "debug"] as const) console[method] = write;
}
