/** Unpacks a stream whose first bytes say that it is compressed. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import {
  constants,
  createGunzip,
  createZstdDecompress,
  gunzipSync,
  zstdDecompressSync,
} from "node:zlib";
import { unpackFirstBlock } from "../../../workers/extract/bzip2.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import { unpackBzip2Chunks } from "./bzip2-chunks.ts";
import type { Chunk } from "./open-source.ts";

/** The codes of errors that mean damaged data. */
export const UNPACKING_FAILED = /^(Z_|ZSTD_|BZIP2_)/;

const MAGIC_BYTES = 4;

/** What is unpacked in one go: a few bytes may stand for 128 KiB. */
const ZSTD_BYTES = 4 * 1024;

type Packing = "gzip" | "zstd" | "bzip2" | undefined;

/** The same chunks, unpacked if they are gzip, zstd or bzip2. */
export async function* unpackChunks(
  chunks: AsyncGenerator<Chunk>,
  pool: Pool,
  signal: AbortSignal,
): AsyncGenerator<Chunk> {
  const first: Chunk[] = [];
  let magic = new Uint8Array(0);
  while (magic.byteLength < MAGIC_BYTES) {
    const next = await chunks.next();
    if (next.done === true) break;
    first.push(next.value);
    magic = Buffer.concat([magic, next.value.bytes.subarray(0, MAGIC_BYTES)]);
  }
  const all = again(first, chunks);
  const packing = packingOf(magic);
  if (packing === undefined) yield* all;
  else if (packing === "bzip2") yield* unpackBzip2Chunks(all, pool, signal);
  else yield* packing === "gzip" ? unpackGzip(all) : unpackZstd(all);
}

function packingOf(bytes: Uint8Array): Packing {
  const [a, b, c, d] = bytes;
  if (a === 0x1f && b === 0x8b && c === 8) return "gzip";
  if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) return "zstd";
  return a === 0x42 && b === 0x5a && c === 0x68 ? "bzip2" : undefined;
}

async function* again(first: readonly Chunk[], rest: AsyncGenerator<Chunk>): AsyncGenerator<Chunk> {
  yield* first;
  yield* rest;
}

async function* unpackGzip(chunks: AsyncGenerator<Chunk>): AsyncGenerator<Chunk> {
  let fraction = 0;
  async function* bytesOf(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      fraction = chunk.fraction;
      yield chunk.bytes;
    }
  }
  const gunzip = createGunzip();
  // Its failure also ends the iteration below, which reports it.
  void pipeline(Readable.from(bytesOf()), gunzip).catch(() => undefined);
  for await (const bytes of gunzip) yield { bytes: bytes as Uint8Array, fraction };
}

// Node's stream ends with the first frame and ignores what follows; how much it took shows where
// the next one begins.
async function* unpackZstd(chunks: AsyncGenerator<Chunk>): AsyncGenerator<Chunk> {
  let frame = openFrame();
  for await (const { bytes, fraction } of chunks) {
    for (let at = 0; at < bytes.byteLength;) {
      const taken = await frame.write(bytes.subarray(at, at + ZSTD_BYTES));
      yield* frame.take().map((unpacked) => ({ bytes: unpacked, fraction }));
      if (taken < Math.min(ZSTD_BYTES, bytes.byteLength - at)) frame = openFrame();
      at += taken;
    }
  }
  await frame.end();
  yield* frame.take().map((unpacked) => ({ bytes: unpacked, fraction: 1 }));
}

interface Frame {
  /** Resolves with the bytes taken: fewer than given when the frame ends there. */
  write(bytes: Uint8Array): Promise<number>;
  /** Rejects when the frame is not complete. */
  end(): Promise<void>;
  /** What was unpacked since the last call. */
  take(): Uint8Array[];
}

function openFrame(): Frame {
  const stream = createZstdDecompress();
  let unpacked: Uint8Array[] = [];
  let begun = false;
  stream.on("data", (bytes: Uint8Array) => void unpacked.push(bytes));
  // Each call reports the error that it meets.
  stream.on("error", () => undefined);
  const settled = (start: (done: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      stream.once("error", reject);
      start((error) => {
        stream.off("error", reject);
        if (error) reject(error);
        else resolve();
      });
    });
  return {
    async write(bytes) {
      const before = stream.bytesWritten;
      await settled((done) => void stream.write(bytes, done));
      const taken = stream.bytesWritten - before;
      if (taken === 0 && !begun)
        throw Object.assign(new Error("no zstd frame"), { code: "ZSTD_error_prefix_unknown" });
      begun = true;
      return taken;
    },
    async end() {
      if (!begun) return;
      await settled((done) => void stream.once("end", () => done()).end());
    },
    take() {
      const taken = unpacked;
      unpacked = [];
      return taken;
    },
  };
}

/** What the beginning of a file unpacks to, as far as it goes; other bytes stay as they are. */
export function unpackBeginning(bytes: Uint8Array): Uint8Array {
  const maxOutputLength = 64 * 1024 * 1024;
  try {
    switch (packingOf(bytes)) {
      case "gzip":
        return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength });
      case "zstd":
        return zstdDecompressSync(bytes, { finishFlush: constants.ZSTD_e_flush, maxOutputLength });
      case "bzip2":
        return unpackFirstBlock(bytes);
      case undefined:
        return bytes;
    }
  } catch {
    return bytes;
  }
}
