/**
 * What libraries write to the console goes through the log: lmdb prints each failed write there,
 * past the promise that rejects with it.
 */
import { format } from "node:util";
import type { Log } from "./log.ts";

/** Characters of a text that are logged. */
const MAX_TEXT_LENGTH = 500;

/**
 * From now on the console of this thread writes warnings to the log: of an error its first line,
 * without the stack.
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
