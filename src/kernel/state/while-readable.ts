/** Reads for figures that are shown or measured, which an unreadable store must not fail. */
import { StewardError } from "../base/errors.ts";

/**
 * The result of `read`, or undefined while a store does not permit it: it is closed, is reopened
 * after a failed write, or is damaged. Other errors are thrown.
 */
export function whileReadable<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const isUnreadable =
      error instanceof StewardError && (error.code === "not_ready" || error.code === "corrupt");
    if (isUnreadable) return undefined;
    throw error;
  }
}
