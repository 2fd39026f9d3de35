/**
 * Packed texts of a run that cannot be read again where they came from: in memory up to a bound,
 * then in a temporary file that has no name, so that nothing is left of it however the run ends.
 */
import { randomBytes } from "node:crypto";
import { readSync } from "node:fs";
import { open, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { assert, StewardError, toStewardError } from "../kernel/base/errors.ts";

/** A text that was put away: its bytes, or where they are in the file. */
export type KeptText = Uint8Array | { readonly at: number; readonly bytes: number };

/** The texts of one run. */
export interface KeptTexts {
  /** Takes a text. The bytes must not change afterwards. */
  put(text: Uint8Array): KeptText;
  /**
   * Writes what is to go to the file; call after every few megabytes, and before the first `get`.
   * Throws `disk_full`, `denied` or `not_found` naming the folder.
   */
  flush(): Promise<void>;
  /** The bytes of a text. Blocks the thread for the read. Throws the system's error. */
  get(text: KeptText): Uint8Array;
  /** Frees the file. The texts in it are gone. */
  close(): Promise<void>;
}

/** Texts kept in memory. */
const MEMORY_BYTES = 128 * 1024 * 1024;

interface KeptTextsOptions {
  /** Of the file; it has to exist when there is more than fits in memory. */
  readonly folder: string;
  readonly memoryBytes?: number;
}

/** Nothing is kept yet, and no file is there before one is needed. */
export function createKeptTexts({
  folder,
  memoryBytes = MEMORY_BYTES,
}: KeptTextsOptions): KeptTexts {
  let inMemory = 0;
  let end = 0;
  let waiting: Uint8Array[] = [];
  let file: FileHandle | undefined;
  return {
    put(text) {
      if (inMemory + text.length <= memoryBytes) {
        inMemory += text.length;
        return text;
      }
      waiting.push(text);
      const place = { at: end, bytes: text.length };
      end += text.length;
      return place;
    },
    async flush() {
      if (waiting.length === 0) return;
      const texts = waiting;
      waiting = [];
      try {
        file ??= await openNameless(folder);
        // The place of each text is fixed: whatever is written starts where the texts before end.
        await writeAll(file, Buffer.concat(texts), end);
      } catch (error) {
        throw failureIn(folder, error);
      }
    },
    get(text) {
      if (text instanceof Uint8Array) return text;
      assert(file !== undefined && waiting.length === 0, "texts are written before they are read");
      const bytes = Buffer.allocUnsafeSlow(text.bytes);
      for (let filled = 0; filled < bytes.length;) {
        const read = readSync(file.fd, bytes, filled, bytes.length - filled, text.at + filled);
        assert(read > 0, "a text is as long as it was when it was written");
        filled += read;
      }
      return bytes;
    },
    async close() {
      waiting = [];
      await file?.close();
      file = undefined;
    },
  };
}

/** A file of a folder, readable by nobody else, whose name is gone. */
async function openNameless(folder: string): Promise<FileHandle> {
  const path = join(folder, `.steward.${randomBytes(6).toString("hex")}.texts`);
  const file = await open(path, "wx+", 0o600);
  try {
    await rm(path);
  } catch (error) {
    await file.close();
    throw error;
  }
  return file;
}

async function writeAll(file: FileHandle, bytes: Buffer, end: number): Promise<void> {
  const start = end - bytes.length;
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await file.write(
      bytes,
      written,
      bytes.length - written,
      start + written,
    );
    written += bytesWritten;
  }
}

function failureIn(folder: string, error: unknown): StewardError {
  const { code, message } = toStewardError(error);
  return new StewardError(
    code,
    `texts of pipes and compressed files beyond 128 MiB go to a temporary file in ${folder}: ${message}`,
    { remedy: "set TMPDIR, or --state, to a folder with enough space", cause: error },
  );
}
