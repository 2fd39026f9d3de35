/** File descriptors of the process, as Linux's /proc has them; other systems have no such files. */
import { readdirSync, readFileSync } from "node:fs";

/** What is known of the process's descriptors. */
export interface OpenFiles {
  /** How many are open now. */
  count(): number;
  /** The soft limit when it was first looked at; undefined when there is none. */
  readonly limit: number | undefined;
}

const DESCRIPTORS = "/proc/self/fd";
const LIMITS = "/proc/self/limits";

/** The descriptors; undefined where the system does not show them. */
export function watchOpenFiles(): OpenFiles | undefined {
  try {
    readdirSync(DESCRIPTORS);
    return { count, limit: softLimit(readFileSync(LIMITS, "utf8")) };
  } catch {
    return undefined;
  }
}

/** The soft limit of open files in the text of /proc/self/limits. */
export function softLimit(limits: string): number | undefined {
  const digits = /^Max open files\s+(\d+)\s/m.exec(limits)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The list is read through a descriptor of its own, which is not counted. */
function count(): number {
  return readdirSync(DESCRIPTORS).length - 1;
}
