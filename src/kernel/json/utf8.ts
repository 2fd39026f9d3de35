/**
 * Incremental UTF-8 validation: a character may be split anywhere, so up to three bytes wait for
 * their continuation.
 */
import { isUtf8 } from "node:buffer";

const NONE = Buffer.alloc(0);

/** State of one stream of bytes. */
export class Utf8Check {
  #tail: Buffer = NONE;
  /** Bytes before the tail. */
  #offset = 0;

  /**
   * Offset in the stream of the first byte that cannot be part of a character, or -1. A cut
   * character at the end is not yet wrong.
   */
  feed(piece: Uint8Array): number {
    const bytes = this.#tail.length === 0 ? piece : Buffer.concat([this.#tail, piece]);
    const whole = bytes.length - cutLength(bytes);
    const head = bytes.subarray(0, whole);
    if (!isUtf8(head)) return this.#offset + firstBad(head);
    this.#tail = whole === bytes.length ? NONE : Buffer.from(bytes.subarray(whole));
    this.#offset += whole;
    return -1;
  }
}

/** Length of the character that begins at a lead byte; 1 for a byte that is no lead. */
function characterLength(lead: number): number {
  if (lead >= 0xf0) return 4;
  if (lead >= 0xe0) return 3;
  return lead >= 0xc0 ? 2 : 1;
}

/** Bytes at the end that may be the beginning of a character: 0 to 3. */
function cutLength(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return characterLength(byte) > back ? back : 0;
  }
  return 0;
}

function firstBad(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const length = characterLength(bytes[at] ?? 0);
    if (!isUtf8(bytes.subarray(at, at + length))) return at;
    at += length;
  }
  return at;
}
