/** Copies of what can be read once only, pipes and standard input, until the run ends. */
import { randomBytes } from "node:crypto";
import { open, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import type { RecordBytes } from "../../dedup/archives/jsonl.ts";

/** The copies of one run. */
export interface Spools {
  /** Begins the copy of a path of the command line when its first bytes arrive. */
  readonly recorder: (path: string) => RecordBytes;
  /** The copy of a path; undefined when nothing of it was read. Its bytes are all in the file. */
  fileOf(path: string): string | undefined;
  /** Deletes the copies. */
  remove(): Promise<void>;
}

/** Copies as hidden files of a folder, readable by nobody else. */
export function createSpools(folder: string): Spools {
  const copies = new Map<string, { readonly file: string; handle: FileHandle }>();
  return {
    recorder: (path) => async (bytes) => {
      let copy = copies.get(path);
      if (copy === undefined) {
        const file = join(folder, `.steward.${randomBytes(6).toString("hex")}.copy`);
        copy = { file, handle: await open(file, "wx", 0o600) };
        copies.set(path, copy);
      }
      await copy.handle.writeFile(bytes);
    },
    fileOf: (path) => copies.get(path)?.file,
    async remove() {
      for (const { file, handle } of copies.values()) {
        await handle.close();
        await rm(file, { force: true });
      }
      copies.clear();
    },
  };
}
