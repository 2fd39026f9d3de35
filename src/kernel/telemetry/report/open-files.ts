/**
 * Open file descriptors of the process, read from Linux's /proc; not available on other systems.
 */
import { readdirSync, readFileSync } from "node:fs";
import { systemCodeOf } from "../../base/errors.ts";

export interface OpenFiles {
  /** The limit while all are in use, so that no more can be opened; undefined when unreadable. */
  count(): number | undefined;
  /** The soft limit at start; undefined when unlimited. */
  readonly limit: number | undefined;
}

const DESCRIPTORS = "/proc/self/fd";
const LIMITS = "/proc/self/limits";

/** Undefined where the system has no /proc. */
export function watchOpenFiles(): OpenFiles | undefined {
  try {
    readdirSync(DESCRIPTORS);
    const limit = softLimit(readFileSync(LIMITS, "utf8"));
    return { count: () => count(limit), limit };
  } catch {
    return undefined;
  }
}

/** The soft limit of open files in the text of /proc/self/limits. */
export function softLimit(limits: string): number | undefined {
  const digits = /^Max open files\s+(\d+)\s/m.exec(limits)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Listing the directory takes a descriptor itself, which is subtracted. */
function count(limit: number | undefined): number | undefined {
  try {
    return readdirSync(DESCRIPTORS).length - 1;
  } catch (error) {
    return systemCodeOf(error) === "EMFILE" ? limit : undefined;
  }
}
