/** The state of a file by its bytes: what a plan records, and what is checked before a file moves. */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import type { BigIntStats } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { versionOf } from "../../../workers/text/location.ts";

const CHUNK_BYTES = 1024 * 1024;

/** A regular file as the file system describes it. */
export interface FileFacts {
  readonly sizeBytes: number;
  /** Size, time of the last change and inode. */
  readonly version: string;
  /** Device and inode: the same for all names of a file. */
  readonly file: string;
  /** Names of the file (hard links). */
  readonly names: number;
}

/** A file that was read to its end. */
export interface FileState extends FileFacts {
  /** SHA-256 of the bytes in hexadecimal. */
  readonly sha256: string;
}

/** Why there is no state; continues "it …". */
export interface NoFileState {
  readonly problem: string;
}

const NOT_FOLLOWED = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Looks a file up that is reached without any link. Whatever is wrong with it is a problem. */
export async function readFileFacts(path: string): Promise<FileFacts | NoFileState> {
  try {
    if ((await realpath(dirname(path))) !== dirname(path))
      return { problem: "is reached through a symbolic link" };
    const facts = await lstat(path, { bigint: true });
    if (facts.isSymbolicLink()) return { problem: "is a symbolic link" };
    return facts.isFile() ? factsOf(facts) : { problem: "is not a regular file" };
  } catch (error) {
    return { problem: describeFailure(error) };
  }
}

/** Reads a file to its end. Rejects with the signal's reason; whatever else is a problem. */
export async function readFileState(
  path: string,
  signal: AbortSignal,
): Promise<FileState | NoFileState> {
  signal.throwIfAborted();
  // Before it is opened: opening a device can have an effect.
  const facts = await readFileFacts(path);
  if ("problem" in facts) return facts;
  try {
    return await hashFile(path, signal);
  } catch (error) {
    signal.throwIfAborted();
    return { problem: describeFailure(error) };
  }
}

async function hashFile(path: string, signal: AbortSignal): Promise<FileState | NoFileState> {
  const handle = await open(path, NOT_FOLLOWED);
  try {
    const before = await handle.stat({ bigint: true });
    if (!before.isFile()) return { problem: "is not a regular file" };
    const hash = createHash("sha256");
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(chunk, 0, chunk.length);
      if (bytesRead === 0) break;
      hash.update(chunk.subarray(0, bytesRead));
    }
    const after = await handle.stat({ bigint: true });
    if (versionOf(after) !== versionOf(before)) return { problem: "changed while it was read" };
    return { ...factsOf(before), sha256: hash.digest("hex") };
  } finally {
    await handle.close();
  }
}

function factsOf(stats: BigIntStats): FileFacts {
  return {
    sizeBytes: Number(stats.size),
    version: versionOf(stats),
    file: `${stats.dev}:${stats.ino}`,
    names: Number(stats.nlink),
  };
}

/** The system's code in words; continues "it …". */
export function describeFailure(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
      return "does not exist any more";
    case "EACCES":
    case "EPERM":
      return `cannot be used: permission denied (${code})`;
    case "ELOOP":
      return "is a symbolic link";
    case undefined:
      throw error;
    default:
      return `cannot be used (${code})`;
  }
}
