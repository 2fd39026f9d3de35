/** Texts as stored: UTF-8, under zstd or where it can be read again. */
import { isLocation, readLocation } from "./location.ts";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

/** A stored text unpacks to at most this much; more is refused. */
const MAX_UNPACKED_BYTES = 256 * 2 ** 20;

/** Compresses a text; `level` 1 is the quickest, 3 the usual one. */
export function compressText(text: string, level: number): Uint8Array {
  return zstdCompressSync(text, { params: { [constants.ZSTD_c_compressionLevel]: level } });
}

/** What a zstd frame begins with (RFC 8878); no text in UTF-8 does. */
const FRAME = [0x28, 0xb5, 0x2f, 0xfd] as const;

/**
 * The UTF-8 of a text handed to a task: under zstd, at a location, or plain. Empty for a text that
 * is gone from its location. Throws an error with code `corrupt` when it cannot be unpacked.
 */
export function storedText(bytes: Uint8Array): Uint8Array {
  if (isLocation(bytes)) return readLocation(bytes);
  return FRAME.every((byte, at) => bytes[at] === byte) ? unpack(bytes) : bytes;
}

function unpack(bytes: Uint8Array): Buffer {
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: MAX_UNPACKED_BYTES });
  } catch (error) {
    throw Object.assign(new Error("a stored text cannot be unpacked", { cause: error }), {
      code: "corrupt",
    });
  }
}
