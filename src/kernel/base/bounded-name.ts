/**
 * Bounds names that somebody else chose: labels, attributes and identities read from an upstream.
 */
import { hash } from "node:crypto";

/** Bytes of UTF-8. */
export const MAX_NAME_BYTES = 1_024;

const MARK = "…~";
/**
 * Hexadecimal digits of SHA-256: with 64 bits, a million long names have no two alike by chance.
 */
const DIGEST_DIGITS = 16;
const KEPT_BYTES = MAX_NAME_BYTES - Buffer.byteLength(MARK) - DIGEST_DIGITS;
/**
 * A UTF-16 code unit is three bytes of UTF-8 at most, so that shorter texts need not be measured.
 */
const SURELY_FITS = Math.floor(MAX_NAME_BYTES / 3);

/**
 * The name itself when it has at most `MAX_NAME_BYTES` and is well-formed; else its beginning, cut
 * between code points, and a hash of the whole, so that names stay apart that differ only in what
 * was cut. Halves of surrogate pairs become U+FFFD, as every encoder writes them.
 */
export function boundName(name: string): string {
  if (
    name.isWellFormed() &&
    (name.length <= SURELY_FITS || Buffer.byteLength(name) <= MAX_NAME_BYTES)
  )
    return name;
  // Of the code units: as UTF-8 all halves of pairs are the same.
  const digest = hash("sha256", Buffer.from(name, "utf16le"), "hex").slice(0, DIGEST_DIGITS);
  return `${cutAtCodePoint(name, KEPT_BYTES)}${MARK}${digest}`;
}

/**
 * The longest beginning that has at most so many bytes of UTF-8 and ends with a whole code point.
 */
function cutAtCodePoint(text: string, limitBytes: number): string {
  // A code unit has one byte at least, so the rest of a long text need not be encoded.
  const bytes = Buffer.from(text.slice(0, limitBytes).toWellFormed());
  if (bytes.length <= limitBytes) return text.slice(0, limitBytes).toWellFormed();
  let end = limitBytes;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}
