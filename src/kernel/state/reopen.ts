/**
 * Recovery of an environment after a failed write. The kernel may have dropped the pages of a
 * failed flush, and LMDB gives an environment up whose meta page could not be written; so the flush
 * is never repeated. The file is checked, closed and opened again, two small writes prove that the
 * disk takes them, and only then is the failed group stored again, or refused
 * (docs/decisions/state-reopen.md).
 */
import { closeSync, openSync } from "node:fs";
import type { Clock } from "../base/clock.ts";
import { toStewardError, type StewardError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { encodeMetadata, OPEN_MARKER } from "./store-metadata.ts";
import { lmdbError } from "./lmdb-file.ts";
import type { LmdbFile } from "./lmdb-file.ts";
import { METADATA_STORE } from "./table.ts";
import { writeOf } from "./unstored.ts";
import type { Write } from "./unstored.ts";

/**
 * Time until the first new attempt while the disk takes no writes; twice as long with each further
 * one, up to the longest.
 */
const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 4_000;
/**
 * LMDB has two meta pages and each commit writes one: after two commits neither holds what a failed
 * flush left.
 */
const PROBES = 2;

/** What a recovery works with. */
export interface RecoveryDeps {
  readonly file: LmdbFile;
  readonly clock: Clock;
  readonly log: Log;
  /** Verifies the file as an opening does; throws `corrupt` when it is damaged. */
  readonly check: () => Promise<void>;
  /** Ends what holds a state of the file pinned, e.g. a backup. */
  readonly unpin: () => Promise<void>;
}

/** A group of writes that LMDB failed to store. */
export interface FailedGroup {
  readonly writes: readonly Write[];
  readonly error: StewardError;
  /**
   * Whether the writes may be stored again as they are, asked in the same stretch of the main
   * thread that hands them to LMDB.
   */
  readonly mayRepeat: () => boolean;
  /**
   * Called at most once, later: the refused writes turned out to be in the file, so memory has to
   * follow.
   */
  readonly adopt: () => void;
}

/**
 * What became of a failed group: `adopt` means that it is in the file and that the disk does not
 * confirm it.
 */
export type Outcome = "stored" | "refused" | "adopt";

/** Brings one environment back; the queue hands it nothing else until it is. */
export class Recovery {
  readonly #deps: RecoveryDeps;
  /** Refused before anybody could look whether it is in the file. */
  #doubtful: FailedGroup | undefined;
  /** Reopened since the last write failed. */
  #fresh = false;
  #retryMs = FIRST_RETRY_MS;
  #timer: Disposable | undefined;
  #attempt: Promise<void> | undefined;
  #stopped = false;
  /** Why the environment takes no writes; undefined while it does. */
  failure: StewardError | undefined;

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
  }

  /**
   * Decides about a group that failed. While the store stays broken, attempts go on by themselves.
   */
  async settle(group: FailedGroup): Promise<Outcome> {
    const { file, log } = this.#deps;
    let there = false;
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

  /** Ends the attempts; resolves when none is under way. */
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
      // A file system that became read-only still serves the readers of the environment that is
      // open.
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
    // LMDB serves no readers in an environment that it gave up.
    if (!this.#fresh)
      await this.#reopen().catch((thrown: unknown) =>
        log.debug("reopening the store failed", {
          reason: toStewardError(thrown).message,
          path: file.path,
        }),
      );
    this.#timer = clock.timer(clock.monotonic() + this.#retryMs, () => {
      this.#attempt = this.#tryAgain();
    });
    this.#retryMs = Math.min(2 * this.#retryMs, MAX_RETRY_MS);
  }

  async #tryAgain(): Promise<void> {
    const { file, log } = this.#deps;
    try {
      if (!this.#fresh) await this.#reopen();
      const doubtful = this.#doubtful;
      this.#doubtful = undefined;
      if (doubtful !== undefined && isStored(file, doubtful.writes)) doubtful.adopt();
      await this.#probe();
      this.failure = undefined;
      this.#retryMs = FIRST_RETRY_MS;
      log.info("the store accepts writes again: it was checked and reopened", { path: file.path });
    } catch (thrown) {
      await this.#fail(toStewardError(thrown));
    }
  }
}

/** Whether the file is as the writes would have left it: the last one of each key decides. */
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
