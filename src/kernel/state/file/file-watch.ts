/**
 * Detects that the file of an open environment is no longer the one at its path, or that another
 * process wrote into it. LMDB continues to write into a file that was deleted, renamed or replaced,
 * and changes acknowledged then are lost at the next start.
 *
 * Calls `stat` once before and once after each commit. When the modification time is not that of
 * our last commit, the transaction number of the newest meta page decides, so that a mere `touch`
 * is harmless: LMDB counts one or two transactions for each of our commits, and an older copy or
 * another store has fewer or more.
 */
import { closeSync, fstatSync, openSync, readSync, statSync, type BigIntStats } from "node:fs";
import { StewardError } from "../../base/errors.ts";
import { readMeta } from "./lmdb-pages.ts";

/** The rule of the error with which writes are refused before anything is written. */
export const STORE_FILE = "store file";
/**
 * The rule of the error of a commit during which the file was lost: its outcome is known only when
 * the file is back.
 */
const LOST_MEANWHILE = "store file during a commit";
/** Meta page size including its header. */
const META_BYTES = 512;
const RESTORE =
  "stop Steward, put the file back or restore a backup, and start it again (docs/recovery.md)";

/** Watches one open file. */
export interface FileWatch {
  /**
   * Why the file must not be written; undefined when it is the file that was opened, with our last
   * commit.
   */
  lost(): StewardError | undefined;
  /**
   * Runs a commit. Throws before it when the file is lost, and after it when the file was lost
   * meanwhile: that commit is not at the path, but in a file that may come back.
   */
  commit<T>(store: () => Promise<T>): Promise<T>;
  /** Closes its own descriptor. */
  close(): void;
}

/**
 * Starts watching a file that LMDB has open and that is not being written. Throws system errors.
 */
export function watchFile(path: string): FileWatch {
  return new Watch(path);
}

class Watch implements FileWatch {
  readonly #path: string;
  readonly #descriptor: number;
  readonly #pageSize: number;
  #seen: BigIntStats;
  /**
   * The file's first transaction number, and our commits since: those stored by LMDB, and all
   * attempts.
   */
  readonly #firstTxn: number;
  #stored = 0;
  #tried = 0;
  /** Running commits: they change the file themselves. */
  #commits = 0;
  #closed = false;

  constructor(path: string) {
    this.#path = path;
    this.#descriptor = openSync(path, "r");
    try {
      this.#pageSize = readMeta(this.#read(0, META_BYTES)).pageSize;
      this.#seen = fstatSync(this.#descriptor, { bigint: true });
      this.#firstTxn = this.#newestTxn() ?? 0;
    } catch (error) {
      closeSync(this.#descriptor);
      throw error;
    }
  }

  lost(): StewardError | undefined {
    if (this.#closed) return undefined;
    const found = this.#look();
    if (found instanceof StewardError) return found;
    if (this.#commits > 0 || found.mtimeNs === this.#seen.mtimeNs) return undefined;
    if (!this.#isOurs(this.#newestTxn()))
      return this.#refusal("was overwritten while Steward had it open");
    this.#seen = found;
    return undefined;
  }

  async commit<T>(store: () => Promise<T>): Promise<T> {
    const before = this.lost();
    if (before !== undefined) throw before;
    this.#commits += 1;
    this.#tried += 1;
    let after: BigIntStats | StewardError | undefined;
    let result: T;
    try {
      result = await store();
      this.#stored += 1;
    } finally {
      this.#commits -= 1;
      after = this.#afterCommit();
    }
    if (!(after instanceof StewardError)) return result;
    throw new StewardError(after.code, after.message, {
      rule: LOST_MEANWHILE,
      ...(after.remedy === undefined ? {} : { remedy: after.remedy }),
    });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    closeSync(this.#descriptor);
  }

  /** The writes of a failed commit, and those to a lost file, count as ours. */
  #afterCommit(): BigIntStats | StewardError | undefined {
    if (this.#closed) return undefined;
    const found = this.#look();
    this.#seen =
      found instanceof StewardError ? fstatSync(this.#descriptor, { bigint: true }) : found;
    return found;
  }

  #look(): BigIntStats | StewardError {
    let found: BigIntStats | undefined;
    try {
      found = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    } catch (error) {
      return this.#refusal(
        `cannot be looked at (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`,
      );
    }
    if (found === undefined)
      return this.#refusal("was deleted or renamed while Steward had it open");
    if (found.ino !== this.#seen.ino || found.dev !== this.#seen.dev)
      return this.#refusal("was replaced by another file while Steward had it open");
    if (found.size < this.#seen.size)
      return this.#refusal(
        `was cut from ${this.#seen.size} to ${found.size} bytes while Steward had it open`,
      );
    return found;
  }

  #refusal(what: string): StewardError {
    return new StewardError("not_ready", `${this.#path} ${what}; nothing more is written to it`, {
      rule: STORE_FILE,
      remedy: RESTORE,
    });
  }

  #isOurs(txn: number | undefined): boolean {
    return (
      txn !== undefined &&
      txn >= this.#firstTxn + this.#stored &&
      txn <= this.#firstTxn + 2 * this.#tried
    );
  }

  /** Undefined when the file is no longer an LMDB file. */
  #newestTxn(): number | undefined {
    try {
      const bytes = this.#read(0, this.#pageSize + META_BYTES);
      return Math.max(
        readMeta(bytes.subarray(0, META_BYTES)).txn,
        readMeta(bytes.subarray(this.#pageSize)).txn,
      );
    } catch {
      return undefined;
    }
  }

  #read(at: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    return bytes.subarray(0, readSync(this.#descriptor, bytes, 0, length, at));
  }
}
