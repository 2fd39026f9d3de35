/**
 * Encodes key parts as bytes whose order is the order of the parts. A number is tag 1 and seven
 * bytes, big-endian; a string is tag 2, its UTF-8 with 00 escaped as 00 FF, and a terminating 00.
 * Each part is self-terminated, so a prefix of the parts is a prefix of the bytes (not always the
 * other way round: see `afterPrefix`), and numbers sort before strings.
 */
import { StewardError } from "../../base/errors.ts";
import type { KeyPart } from "../types.ts";

const NUMBER_TAG = 1;
const STRING_TAG = 2;
const NUMBER_BYTES = 7;
const END = 0x00;
const ESCAPE = 0xff;

/** Maximum length of a string part in UTF-8 bytes. */
const MAX_STRING_BYTES = 1500;
/** Maximum length of a key in bytes; LMDB allows 1,978 with pages of 4 KiB. */
const MAX_KEY_BYTES = 1900;

/** Throws `invalid` for a part that is not allowed in a key. */
export function encodeKey(parts: readonly KeyPart[]): Uint8Array {
  const [only] = parts;
  const bytes =
    parts.length === 1 && only !== undefined
      ? encodePart(only)
      : Buffer.concat(parts.map(encodePart));
  if (bytes.length > MAX_KEY_BYTES)
    throw invalidKey(`a key of ${bytes.length} bytes is longer than ${MAX_KEY_BYTES}`);
  return bytes;
}

/** Decodes what `encodeKey` wrote; throws `corrupt` for anything else. */
export function decodeKey(bytes: Uint8Array): KeyPart[] {
  const parts: KeyPart[] = [];
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < view.length;) {
    const tag = view[at];
    if (tag === NUMBER_TAG && at + 1 + NUMBER_BYTES <= view.length) {
      parts.push(view.readUInt8(at + 1) * 2 ** 48 + view.readUIntBE(at + 2, 6));
      at += 1 + NUMBER_BYTES;
    } else if (tag === STRING_TAG) {
      const [text, next] = decodeString(view, at + 1);
      parts.push(text);
      at = next;
    } else throw damagedKey();
  }
  return parts;
}

/**
 * The exclusive upper bound of keys that begin with these encoded parts; undefined without parts,
 * since all keys do. A part is followed by the next tag; FF there would be the continuation of a
 * longer string whose 00 was an escape.
 */
export function afterPrefix(prefix: Uint8Array): Uint8Array | undefined {
  return prefix.length === 0 ? undefined : Buffer.concat([prefix, Uint8Array.of(ESCAPE)]);
}

function encodePart(part: KeyPart): Buffer {
  return typeof part === "number" ? encodeNumber(part) : encodeString(part);
}

function encodeNumber(value: number): Buffer {
  if (!Number.isSafeInteger(value) || value < 0)
    throw invalidKey(`${value} is no safe integer from 0 up`);
  const bytes = Buffer.allocUnsafe(1 + NUMBER_BYTES);
  bytes[0] = NUMBER_TAG;
  bytes[1] = Math.floor(value / 2 ** 48);
  bytes.writeUIntBE(value % 2 ** 48, 2, 6);
  return bytes;
}

function encodeString(text: string): Buffer {
  if (!text.isWellFormed())
    throw invalidKey("a string with half a surrogate pair would lose its identity on disk");
  if (!text.includes("\0")) return encodePlain(text);
  const raw = Buffer.from(text, "utf8");
  if (raw.length > MAX_STRING_BYTES)
    throw invalidKey(`a string of ${raw.length} bytes is longer than ${MAX_STRING_BYTES}`);
  let zeros = 0;
  for (const byte of raw) if (byte === END) zeros += 1;
  const bytes = Buffer.alloc(2 + raw.length + zeros);
  bytes[0] = STRING_TAG;
  let at = 1;
  for (const byte of raw) {
    bytes[at++] = byte;
    if (byte === END) bytes[at++] = ESCAPE;
  }
  return bytes;
}

function encodePlain(text: string): Buffer {
  const length = Buffer.byteLength(text);
  if (length > MAX_STRING_BYTES)
    throw invalidKey(`a string of ${length} bytes is longer than ${MAX_STRING_BYTES}`);
  const bytes = Buffer.allocUnsafe(2 + length);
  bytes[0] = STRING_TAG;
  bytes.write(text, 1);
  bytes[1 + length] = END;
  return bytes;
}

function decodeString(view: Buffer, from: number): [string, number] {
  let zeros = 0;
  for (let end = from; end < view.length; end += 1) {
    if (view[end] !== END) continue;
    if (view[end + 1] === ESCAPE) {
      zeros += 1;
      end += 1;
      continue;
    }
    const raw = view.subarray(from, end);
    return [zeros === 0 ? raw.toString("utf8") : unescape(raw), end + 1];
  }
  throw damagedKey();
}

function unescape(raw: Buffer): string {
  const bytes = raw.filter((byte, index) => !(byte === ESCAPE && raw[index - 1] === END));
  return Buffer.from(bytes).toString("utf8");
}

function invalidKey(why: string): StewardError {
  return new StewardError("invalid", `not a key: ${why}`, { rule: "key" });
}

function damagedKey(): StewardError {
  return new StewardError("corrupt", "a stored key is damaged");
}
