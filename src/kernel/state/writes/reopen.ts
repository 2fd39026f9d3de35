/**
 * Recovers an environment after a failed write. The kernel may have dropped the pages of a failed
 * flush, and LMDB gives up on an environment whose meta page could not be written; so a flush is
 * never retried. The file is checked, closed and reopened, two small writes prove that the disk
 * accepts them, and only then is the failed group stored again, or refused
 * (docs/decisions/state-reopen.md).
 */
import { closeSync, openSync } from "node:fs";
import type { Clock } from "../../base/clock.ts";
import { toStewardError, type StewardError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { failedFor } from "../../base/log/outage.ts";
import { encodeMetadata, OPEN_MARKER } from "../rows/store-metadata.ts";
import { lmdbError } from "../file/lmdb-error.ts";
import type { LmdbFile } from "../file/lmdb-file.ts";
import { METADATA_STORE } from "../table.ts";
import { writeOf } from "./unstored.ts";
import type { Write } from "./unstored.ts";
import { backoffMs, type Backoff } from "../../async/backoff.ts";

/** Delay before the first retry while the disk accepts no writes; doubles up to the maximum. */
const RETRY: Backoff = { firstMs: 1_000, maxMs: 4_000 };
/**
 * LMDB alternates between two meta pages: after two commits neither holds what a failed flush left.
 */
const PROBES = 2;

export interface RecoveryDeps {
  readonly file: LmdbFile;
  readonly clock: Clock;
  readonly log: Log;
  /** Verifies the file as at opening; throws `corrupt` when it is damaged. */
  readonly check: () => Promise<void>;
  /** Ends whatever pins a state of the file, such as a backup. */
  readonly unpin: () => Promise<void>;
}

/** A group of writes that LMDB failed to store. */
export interface FailedGroup {
  readonly writes: readonly Write[];
  readonly error: StewardError;
  /**
   * Whether the writes may be stored again unchanged; called synchronously before they are passed
   * to LMDB.
   */
  readonly mayRepeat: () => boolean;
  /**
   * Called at most once, later: the refused writes turned out to be in the file, so memory must
   * follow.
   */
  readonly adopt: () => void;
}

/**
 * The outcome of a failed group; `adopt` means it is in the file although the disk does not confirm
 * it.
 */
export type Outcome = "stored" | "refused" | "adopt";

/** Recovers one environment; the queue passes it no other writes meanwhile. */
export class Recovery {
  readonly #deps: RecoveryDeps;
  /** Refused before it could be checked whether it is in the file. */
  #doubtful: FailedGroup | undefined;
  /** Reopened since the last failed write. */
  #fresh = false;
  #failures = 0;
  /** Monotonic time of the write that failed first. */
  #failedAtMs = 0;
  #timer: Disposable | undefined;
  #attempt: Promise<void> | undefined;
  #stopped = false;
  /** Why the environment accepts no writes; undefined while it does. */
  failure: StewardError | undefined;

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
  }

  /**
   * Decides what happens to a failed group. While the store stays broken, retries continue in the
   * background.
   */
  async settle(group: FailedGroup): Promise<Outcome> {
    const { clock, file, log } = this.#deps;
    let there = false;
    if (this.failure === undefined) this.#failedAtMs = clock.monotonic();
    this.#fresh = false;
    this.#doubtful = group;
    try {
      await this.#reopen();
      there = isStored(file, group.writes);
      this.#doubtful = undefined;
      await this.#probe();
      if (!there && group.mayRepeat()) {
        this.#doubtful = group;
        await this.#write(group.writes);
        this.#doubtful = undefined;
        there = true;
      }
    } catch (thrown) {
      await this.#fail(toStewardError(thrown));
      return there ? "adopt" : "refused";
    }
    if (there)
      log.warn("a write failed; the store was checked and reopened, and contains the write", {
        reason: group.error.message,
        path: file.path,
      });
    return there ? "stored" : "refused";
  }

  /** Ends the retries; resolves when none is running. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.[Symbol.dispose]();
    await this.#attempt;
  }

  async #reopen(): Promise<void> {
    const { file, check, unpin } = this.#deps;
    const lost = file.lost();
    if (lost !== undefined) throw lost;
    try {
      await check();
      // On a file system that became read-only, the open environment still serves readers.
      closeSync(openSync(file.path, "r+"));
    } catch (error) {
      throw lmdbError(error, file.path);
    }
    await unpin();
    await file.reopen();
    this.#fresh = true;
  }

  async #probe(): Promise<void> {
    const marker = writeOf(
      this.#deps.file.store(METADATA_STORE),
      OPEN_MARKER,
      encodeMetadata(process.pid),
    );
    for (let count = 0; count < PROBES; count += 1) await this.#write([marker]);
  }

  async #write(writes: readonly Write[]): Promise<void> {
    try {
      await this.#deps.file.storeAll(writes);
    } catch (error) {
      this.#fresh = false;
      throw error;
    }
  }

  async #fail(error: StewardError): Promise<void> {
    const { clock, log, file } = this.#deps;
    if (this.failure?.message !== error.message)
      log.error("the store accepts no writes", {
        reason: error.message,
        remedy: error.remedy,
        path: file.path,
        ...(error.code === "internal" ? { error } : {}),
      });
    this.failure = error;
    if (error.code === "corrupt" || this.#stopped) return; // a damaged file needs a person
    // LMDB serves no readers in an environment it has given up on.
    if (!this.#fresh)
      await this.#reopen().catch((thrown: unknown) =>
        log.debug("reopening the store failed", {
          reason: toStewardError(thrown).message,
          path: file.path,
        }),
      );
    this.#failures += 1;
    this.#timer = clock.timer(clock.monotonic() + backoffMs(this.#failures, RETRY), () => {
      this.#attempt = this.#tryAgain();
    });
  }

  async #tryAgain(): Promise<void> {
    const { clock, file, log } = this.#deps;
    try {
      if (!this.#fresh) await this.#reopen();
      const doubtful = this.#doubtful;
      this.#doubtful = undefined;
      if (doubtful !== undefined && isStored(file, doubtful.writes)) doubtful.adopt();
      await this.#probe();
      this.failure = undefined;
      this.#failures = 0;
      log.info("the store accepts writes again: it was checked and reopened", {
        path: file.path,
        ...failedFor(clock, this.#failedAtMs),
      });
    } catch (thrown) {
      await this.#fail(toStewardError(thrown));
    }
  }
}

/** Whether the file contains the result of the writes: the last one of each key decides. */
function isStored(file: LmdbFile, writes: readonly Write[]): boolean {
  const last = new Map<string, Write>();
  for (const write of writes) last.set(`${write.store.name}\0${write.text}`, write);
  try {
    return [...last.values()].every(({ store, key, stored }) => {
      const found = file.store(store.name).db.getBinary(key);
      return stored === undefined
        ? found === undefined
        : found !== undefined && Buffer.compare(found, stored) === 0;
    });
  } catch (error) {
    throw lmdbError(error, file.path);
  }
}
