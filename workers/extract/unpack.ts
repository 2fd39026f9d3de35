/** Files that are another file, compressed: gzip, zstd, bzip2. */
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { unpackBzip2 } from "./bzip2.ts";
import { Refusal } from "./extractor.ts";
import type { Extracted, Extractor } from "./extractor.ts";

/** The largest file that is unpacked. */
export const UNPACKED_BYTES = 64 * 1024 * 1024;

const limit = { maxOutputLength: UNPACKED_BYTES };

/** RFC 1952; several members are one file. */
export const gzip: Extractor = (bytes) => unpack("gzip", () => gunzipSync(bytes, limit));

/** RFC 8878; several frames are one file. */
export const zstd: Extractor = (bytes) => unpack("zstd", () => unpackFrames(bytes));

// Node unpacks the first frame only, and says how much of the bytes that was.
function unpackFrames(bytes: Uint8Array): Uint8Array {
  const frames: Uint8Array[] = [];
  let leftBytes = UNPACKED_BYTES;
  for (let at = 0; at < bytes.byteLength;) {
    const options = { maxOutputLength: Math.max(1, leftBytes), info: true };
    const { buffer, engine } = zstdDecompressSync(bytes.subarray(at), options) as unknown as {
      readonly buffer: Uint8Array;
      readonly engine: { readonly bytesWritten: number };
    };
    if (engine.bytesWritten === 0) throw new Error("a frame without an end");
    at += engine.bytesWritten;
    leftBytes -= buffer.byteLength;
    frames.push(buffer);
  }
  return frames.length === 1 && frames[0] !== undefined ? frames[0] : Buffer.concat(frames);
}

/** Several streams are one file. */
export const bzip2: Extractor = (bytes, { cancelled }) =>
  unpack("bzip2", () => unpackBzip2(bytes, UNPACKED_BYTES, cancelled));

function unpack(label: string, run: () => Uint8Array): Extracted {
  try {
    return { text: "", inner: run() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "cancelled") throw error;
    if (code === "ERR_BUFFER_TOO_LARGE")
      throw new Refusal("too large", "unpacks to more than 64 MiB");
    throw new Refusal(`broken ${label}`, `cannot be unpacked: ${code ?? "its data is damaged"}`);
  }
}
