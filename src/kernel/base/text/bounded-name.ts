/** Bounds the length of foreign names: labels, attributes and identities from upstream. */
import { hash } from "node:crypto";

/** Bytes of UTF-8. */
export const MAX_NAME_BYTES = 1_024;

const MARK = "…~";
/** Hexadecimal digits of SHA-256: with 64 bits a million long names do not collide by chance. */
const DIGEST_DIGITS = 16;
const KEPT_BYTES = MAX_NAME_BYTES - Buffer.byteLength(MARK) - DIGEST_DIGITS;
/** A UTF-16 code unit is at most three bytes of UTF-8, so shorter texts need not be measured. */
const SURELY_FITS = Math.floor(MAX_NAME_BYTES / 3);

/**
 * The name itself when it has at most `MAX_NAME_BYTES` and is well-formed; else its prefix, cut
 * between code points, and a hash of the whole, so that names with the same prefix stay distinct.
 * Lone surrogates become U+FFFD, as in every encoder.
 */
export function boundName(name: string): string {
  if (
    name.isWellFormed() &&
    (name.length <= SURELY_FITS || Buffer.byteLength(name) <= MAX_NAME_BYTES)
  )
    return name;
  // Over the code units: in UTF-8 all lone surrogates are equal.
  const digest = hash("sha256", Buffer.from(name, "utf16le"), "hex").slice(0, DIGEST_DIGITS);
  return `${cutAtCodePoint(name, KEPT_BYTES)}${MARK}${digest}`;
}

/**
 * The longest prefix of at most this many bytes of UTF-8 that ends with a whole code point,
 * well-formed. Keeps nothing else of a longer text in memory.
 */
export function cutAtCodePoint(text: string, limitBytes: number): string {
  // A code unit has at least one byte, so the rest of a long text need not be encoded.
  const bytes = Buffer.from(text.slice(0, limitBytes).toWellFormed());
  if (bytes.length <= limitBytes) return text.slice(0, limitBytes).toWellFormed();
  let end = limitBytes;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString("utf8", 0, end);
}
