/**
 * Reads the beginning of a file, unpacked if need be, with bounded memory and without ever waiting
 * on a pipe or a device.
 */
import { createHash } from "node:crypto";
import type { Hash } from "node:crypto";
import { constants } from "node:fs";
import { open, stat } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { versionOf } from "../../../workers/text/location.ts";
import type { SkippedItem } from "./archive.ts";
import { failed, passedOver } from "./archive.ts";
import { systemCode } from "./unreadable.ts";

/** The largest file, as stored and unpacked. */
const FILE_BYTES = 64 * 1024 * 1024;
/** What is read at a time of bytes that are only hashed. */
const REST_BYTES = 256 * 1024;

/** Identifies one state of a file. */
export interface FileFacts {
  /** size:mtime in ns:inode. */
  readonly version: string;
  readonly modifiedDate: string;
  readonly sizeBytes: number;
}

/** The beginning of a file. */
export interface FileHead {
  readonly kind: "head";
  readonly facts: FileFacts;
  readonly bytes: Uint8Array;
  /** Nothing follows these bytes. */
  readonly whole: boolean;
  /** SHA-256 of the bytes that follow, in hexadecimal; "" when nothing does. */
  readonly beyond: string;
}

/** How to read one. */
export interface ReadFileOptions {
  readonly ref: string;
  readonly gzip: boolean;
  readonly keepBytes: number;
  readonly signal: AbortSignal;
}

/** Follows links. Throws the system's error. */
export async function statFile(path: string): Promise<FileFacts> {
  return factsOf(await stat(path, { bigint: true }));
}

/** The first `keepBytes` of a file, or why it was skipped. Throws the system's error. */
export async function readFileHead(
  path: string,
  options: ReadFileOptions,
): Promise<FileHead | SkippedItem> {
  const { ref, gzip, keepBytes, signal } = options;
  signal.throwIfAborted();
  // Without O_NONBLOCK, a pipe that took the file's place would hold the walk for ever.
  await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await handle.stat({ bigint: true });
  if (!stats.isFile()) return passedOver(ref, "no file", "is a device, socket or pipe");
  const facts = factsOf(stats);
  if (facts.sizeBytes > FILE_BYTES)
    return failed(ref, "too large", "is larger than 64 MiB", "none");
  const rest = createHash("sha256");
  const read = gzip
    ? await unpackHead(handle, options, rest)
    : await readHead(handle, Math.min(facts.sizeBytes, keepBytes), signal);
  if (!(read instanceof Uint8Array)) return read;
  if (!gzip) await hashRest(handle, { from: read.byteLength, to: facts.sizeBytes, rest, signal });
  const after = factsOf(await handle.stat({ bigint: true }));
  if (after.version !== facts.version)
    return failed(
      ref,
      "changed",
      "changed while it was read; the next sync reads it again",
      "itself",
    );
  const whole = gzip ? read.byteLength < keepBytes : facts.sizeBytes <= keepBytes;
  return { kind: "head", facts, bytes: read, whole, beyond: whole ? "" : rest.digest("hex") };
}

async function readHead(
  handle: FileHandle,
  length: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, filled, length - filled, filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Hashes the bytes of a file from one position to another, as far as there are any. */
async function hashRest(
  handle: FileHandle,
  options: {
    readonly from: number;
    readonly to: number;
    readonly rest: Hash;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  if (options.from >= options.to) return;
  const chunk = Buffer.allocUnsafeSlow(REST_BYTES);
  for (let at = options.from; at < options.to;) {
    options.signal.throwIfAborted();
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, at);
    if (bytesRead === 0) return;
    options.rest.update(chunk.subarray(0, bytesRead));
    at += bytesRead;
  }
}

class Bomb extends Error {}

async function unpackHead(
  handle: FileHandle,
  { ref, keepBytes, signal }: ReadFileOptions,
  rest: Hash,
): Promise<Uint8Array | SkippedItem> {
  const kept: Uint8Array[] = [];
  let total = 0;
  try {
    await pipeline(
      handle.createReadStream({ autoClose: false, start: 0 }),
      createGunzip(),
      async (source: AsyncIterable<Uint8Array>) => {
        for await (const chunk of source) {
          const own = Math.max(0, Math.min(chunk.byteLength, keepBytes - total));
          if (own > 0) kept.push(chunk.subarray(0, own));
          if (own < chunk.byteLength) rest.update(chunk.subarray(own));
          total += chunk.byteLength;
          if (total > FILE_BYTES) throw new Bomb();
        }
      },
      { signal },
    );
  } catch (error) {
    if (error instanceof Bomb)
      return failed(ref, "too large", "unpacks to more than 64 MiB", "none");
    const code = systemCode(error);
    if (code?.startsWith("Z_"))
      return failed(ref, "broken gzip", `cannot be unpacked: ${code}`, "none");
    throw error;
  }
  return Buffer.concat(kept);
}

function factsOf(stats: {
  readonly size: bigint;
  readonly mtimeNs: bigint;
  readonly ino: bigint;
}): FileFacts {
  return {
    version: versionOf(stats),
    modifiedDate: new Date(Number(stats.mtimeNs / 1_000_000n)).toISOString(),
    sizeBytes: Number(stats.size),
  };
}
