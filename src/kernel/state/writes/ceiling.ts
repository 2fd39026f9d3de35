/** The maximum size of a file, looked at only when it may have been reached. */
import { StewardError } from "../../base/errors.ts";
import { lmdbError } from "../file/lmdb-error.ts";
import { fileBytes, type LmdbFile } from "../file/lmdb-file.ts";

/**
 * Share of the ceiling that may be in use before puts are refused; the rest is for pages that
 * commits free and for urgent changes.
 */
const USABLE_SHARE = 0.9;
/**
 * Upper bound on what one write adds to a file beside its value: a page on each level of its tree
 * and of the tree of free pages.
 */
const WRITE_BYTES = 16 * 4096;

export class Ceiling {
  readonly #file: LmdbFile;
  readonly #maxBytes: number;
  /** Bytes that may be written before the file can reach it. */
  #roomBytes = 0;

  constructor(file: LmdbFile, maxBytes: number) {
    this.#file = file;
    this.#maxBytes = maxBytes;
  }

  /** Call it before a group is stored. */
  spend(bytes: number, writes: number): void {
    this.#roomBytes -= bytes + writes * WRITE_BYTES;
  }

  /** Why the file takes deletions and urgent changes only. Throws when LMDB cannot tell its size. */
  reached(): StewardError | undefined {
    if (this.#roomBytes > 0) return undefined; // to ask for the size of the file takes as long as a small change
    this.#roomBytes = this.#maxBytes - fileBytes(this.#file.path);
    if (this.#roomBytes > 0) return undefined; // to count the pages in use takes as long as a small group
    const size = this.#size();
    if (size.fileBytes < this.#maxBytes || size.usedBytes < this.#maxBytes * USABLE_SHARE)
      return undefined;
    return new StewardError(
      "disk_full",
      `${this.#file.path} has reached its limit of ${this.#maxBytes} bytes`,
      { rule: "maxBytes", remedy: "raise the limit or delete data that is no longer needed" },
    );
  }

  #size(): ReturnType<LmdbFile["size"]> {
    try {
      return this.#file.size();
    } catch (error) {
      throw lmdbError(error, this.#file.path);
    }
  }
}
