/** White space and the byte order mark before a JSON text. */
import { Turns } from "../async/turns.ts";

const STEP_BYTES = 256 * 1024;

/** White space of JSON (RFC 8259 §2). */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** Offset of the first other byte; the length of the text when there is none. */
export function whiteSpaceEnd(bytes: Uint8Array, from = 0, to: number = bytes.length): number {
  let at = from;
  while (at < to && isSpace(bytes[at])) at += 1;
  return at;
}

/** As `whiteSpaceEnd`, yielding to the event loop. */
export async function skipWhiteSpace(bytes: Uint8Array): Promise<number> {
  const turns = new Turns();
  for (let from = 0; from < bytes.length; from += STEP_BYTES) {
    if (turns.over) await turns.give();
    const to = Math.min(from + STEP_BYTES, bytes.length);
    const end = whiteSpaceEnd(bytes, from, to);
    if (end < to) return end;
  }
  return bytes.length;
}

/** The text without a byte order mark. */
export function withoutMark(bytes: Uint8Array): Uint8Array {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes;
}
