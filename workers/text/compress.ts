/** Texts as stored: UTF-8 under zstd. */
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";

/** A stored text unpacks to at most this much; more is refused. */
const MAX_UNPACKED_BYTES = 256 * 2 ** 20;

/** Compresses a text; `level` 1 is the quickest, 3 the usual one. */
export function compressText(text: string, level: number): Uint8Array {
  return zstdCompressSync(text, { params: { [constants.ZSTD_c_compressionLevel]: level } });
}

/** The text again. Throws an error with code `corrupt` when the bytes are no such text. */
export function decompressText(bytes: Uint8Array): string {
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: MAX_UNPACKED_BYTES }).toString("utf8");
  } catch (error) {
    throw Object.assign(new Error("a stored text cannot be unpacked", { cause: error }), {
      code: "corrupt",
    });
  }
}
