/**
 * Of warnings and errors that are equal, one is written in five minutes; the next one says how many
 * were left out.
 */
import { createHash } from "node:crypto";

/** A line as JSON has it. */
export type WrittenLine = Readonly<Record<string, unknown>> & { readonly level: string };

/**
 * Equal lines are written this far apart, less what a clock that is being set right gains in that
 * time: who summarizes every five minutes by another clock is heard.
 */
const APART_MS = 5 * 60_000 - 200;
/**
 * Different lines that are remembered; above it the one that was written longest ago is forgotten,
 * with its count.
 */
const MAX_LINES = 1024;
/**
 * Attributes that say what a line is about: the failure of one component does not hide that of
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
/**
 * Calls above the place where an error was thrown that tell it from others; the first may be the
 * assertion that threw it.
 */
const FRAMES = 2;

interface Remembered {
  readonly writtenMs: number;
  leftOut: number;
}

/** Remembers which lines were written when. */
export class RepeatLimit {
  readonly #now: () => number;
  readonly #lines = new Map<string, Remembered>();

  /** `now`: milliseconds since 1970; a clock that was put back limits nothing. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * How many equal lines were left out since the last one that was written, or undefined when this
   * one is left out, too.
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

/** Lines of one key are equal. A hash: messages may be long. */
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

/**
 * An error that was foreseen has a code. Others are mistakes of ours, and two mistakes differ by
 * their places.
 */
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
