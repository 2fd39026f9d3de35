/** Reads a configuration file, whose text must not be altered on the way. */
import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { StewardError } from "../../base/errors.ts";

const NEWLINE = 0x0a;

/**
 * Throws system errors, and `invalid` for bytes that are not UTF-8: decoding would replace them
 * without a word.
 */
export function readUtf8File(path: string): string {
  const bytes = readFileSync(path);
  if (!isUtf8(bytes))
    throw new StewardError("invalid", `is not UTF-8 (line ${wrongLine(bytes)})`, {
      remedy: "save it as UTF-8.",
    });
  return bytes.toString("utf8");
}

/** The first line that is not UTF-8; no newline is part of another character. */
function wrongLine(bytes: Buffer): number {
  let line = 1;
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(NEWLINE, start);
    if (end === -1 || !isUtf8(bytes.subarray(start, end))) return line;
    line += 1;
    start = end + 1;
  }
}
