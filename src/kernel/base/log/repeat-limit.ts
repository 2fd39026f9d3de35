/**
 * Suppresses repeated lines: of equal warnings and errors one is written in five minutes; the next
 * one has the count of suppressed ones.
 */
import { createHash } from "node:crypto";

/** A line as JSON. */
export type WrittenLine = Readonly<Record<string, unknown>> & { readonly level: string };

/**
 * Minimum time between equal lines, less what a clock being slewed gains meanwhile, so that
 * summaries written every five minutes by another clock are not suppressed.
 */
const APART_MS = 5 * 60_000 - 200;
/**
 * Maximum number of remembered lines; beyond it the least recently written is dropped, with its
 * count.
 */
const MAX_LINES = 1024;
/**
 * Attributes that identify a line's subject: the failure of one component does not suppress that of
 * another.
 */
const ABOUT: readonly string[] = [
  "name",
  "network",
  "collector",
  "setting",
  "class",
  "status",
  "operation",
  "cause",
  "path",
  "directory",
  "task",
  "device",
  "scope",
  "route",
  "method",
];
/** Stack frames that identify where an error was thrown; the first may be the assertion itself. */
const FRAMES = 2;

interface Remembered {
  readonly writtenMs: number;
  leftOut: number;
}

export class RepeatLimit {
  readonly #now: () => number;
  readonly #lines = new Map<string, Remembered>();

  /** `now`: milliseconds since 1970; after a clock was set back nothing is suppressed. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * The number of suppressed lines since the last written one, or undefined when this one is
   * suppressed too.
   */
  admit(line: WrittenLine): number | undefined {
    const key = keyOf(line);
    const known = this.#lines.get(key);
    const nowMs = this.#now();
    if (known !== undefined && nowMs >= known.writtenMs && nowMs - known.writtenMs < APART_MS) {
      known.leftOut += 1;
      return undefined;
    }
    this.#lines.delete(key);
    this.#lines.set(key, { writtenMs: nowMs, leftOut: 0 });
    for (const oldest of this.#lines.keys()) {
      if (this.#lines.size <= MAX_LINES) break;
      this.#lines.delete(oldest);
    }
    return known?.leftOut ?? 0;
  }
}

/** Lines with the same key are equal. A hash: messages may be long. */
function keyOf(line: WrittenLine): string {
  const parts = [
    line.level,
    line["component"],
    line["msg"],
    classOf(line["error"]),
    ...ABOUT.map((name) => line[name]),
  ];
  return createHash("sha256")
    .update(JSON.stringify(parts.map((part) => part ?? null)))
    .digest("base64");
}

/** Expected errors have a code. Others are programming errors, distinguished by location. */
function classOf(error: unknown): unknown {
  if (typeof error !== "object" || error === null)
    return error === undefined ? undefined : typeof error;
  const { type, code, stack } = error as {
    readonly type?: unknown;
    readonly code?: unknown;
    readonly stack?: unknown;
  };
  if (code !== undefined && code !== "internal") return code;
  const frames =
    typeof stack === "string"
      ? stack
          .split("\n")
          .filter((row) => /^\s+at /.test(row))
          .slice(0, FRAMES)
      : [];
  return [type, ...frames];
}
