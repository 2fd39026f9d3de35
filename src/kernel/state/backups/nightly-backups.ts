/**
 * Component that makes a backup every night, tests it and deletes old ones. A failed backup is
 * reported in readiness and retried after an hour; nothing waits for it.
 */
import { statfsSync } from "node:fs";
import { rm, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Clock } from "../../base/clock.ts";
import { ownMessage, StewardError, systemCodeOf, toStewardError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Component, Health } from "../../supervisor/component.ts";
import { late, waitFor } from "../../async/wait.ts";
import { createScheduler } from "../../supervisor/scheduler.ts";
import type { BackupJob, RunBackup } from "./backup-job.ts";
import { isBackupDue, isDatedAhead } from "./backup-times.ts";
import type { TimeOfDay } from "./backup-times.ts";
import { locateExternalStores, storeNames, type StoreLocation } from "./folder-backup.ts";
import { KeptBackups, type KeptBackup } from "./kept-backups.ts";
import { fileBytes } from "../file/lmdb-file.ts";

const LOOK_EVERY_MS = 60_000;
const MAX_BACKUP_MS = 6 * 3_600_000;
const RETRY_MS = 3_600_000;
/** A network share that takes longer to list its files or to tell its free space is down. */
const ANSWER_MS = 30_000;
/**
 * Free space that must remain after a backup, besides a tenth of its size for concurrent writes.
 */
const SPARE_BYTES = 256 * 2 ** 20;
/** When a nightly backup has no space. */
const REMEDY =
  "lower state.backup.keep, or name a folder on a larger disk in state.backup.directory";

export interface BackupsDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Creates its target and missing parents. */
  readonly run: RunBackup;
  /** Free bytes of the disk of a folder, which may not exist yet; by default of the system. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

export interface BackupsOptions {
  /** Folder of the stores. */
  readonly directory: string;
  /** Folder of the backups; created by the first one. */
  readonly target: string;
  readonly at: TimeOfDay;
  /** Number of complete backups to keep, at least 1. */
  readonly keep: number;
  /** Derived stores to leave out; read before each backup. */
  readonly derived: () => readonly string[];
  /** Stores outside the folder that belong to it; read before each backup, since some come later. */
  readonly elsewhere?: () => readonly StoreLocation[];
  readonly version: string;
  /** Components that hold the stores. */
  readonly needs: readonly string[];
}

/** The component, named `backups`. */
export interface Backups extends Component {
  /**
   * Makes a backup when one is due; failures appear in `health`. The component calls it every
   * minute.
   */
  look(signal: AbortSignal): Promise<void>;
  figures(): BackupFigures;
}

/** Totals since the start. */
interface BackupFigures {
  readonly succeeded: number;
  readonly failed: number;
  /** Of the newest complete backup, also of an earlier process; undefined without one. */
  readonly newestMs: number | undefined;
}

export function createBackups(deps: BackupsDeps, options: BackupsOptions): Backups {
  const keeper = new Keeper(deps, options);
  const scheduler = createScheduler(deps, { name: "backups", needs: options.needs });
  const look = (signal: AbortSignal): Promise<void> => keeper.look(signal);
  scheduler.add({
    name: "backup",
    everyMs: LOOK_EVERY_MS,
    staggerMs: LOOK_EVERY_MS,
    overlap: "never",
    timeoutMs: MAX_BACKUP_MS,
    history: 1,
    run: (tick) => look(tick.signal),
  });
  return {
    ...scheduler,
    name: "backups",
    needs: options.needs,
    readiness: "reported",
    async start(signal, beat) {
      void keeper.lookForNewest(); // the start does not wait for a folder that may be elsewhere
      await scheduler.start(signal, beat);
    },
    look,
    health: () => keeper.health(),
    figures: () => keeper.figures(),
  };
}

class Keeper {
  readonly #deps: BackupsDeps;
  readonly #options: BackupsOptions;
  readonly #kept: KeptBackups;
  readonly #startedMs: number;
  #failure: string | undefined;
  #figures: BackupFigures = { succeeded: 0, failed: 0, newestMs: undefined };
  /** Monotonic. */
  #retryAtMs = Number.NEGATIVE_INFINITY;
  /**
   * At most one call of each runs: one that a folder does not answer keeps a thread of Node's pool.
   */
  #listing: Promise<KeptBackup[]> | undefined;
  #measuring: Promise<number> | undefined;

  constructor(deps: BackupsDeps, options: BackupsOptions) {
    this.#deps = deps;
    this.#options = options;
    this.#kept = new KeptBackups(options.target, options.directory);
    this.#startedMs = deps.clock.monotonic();
  }

  health(): Health {
    return this.#failure === undefined ? { ok: true } : { ok: false, reason: this.#failure };
  }

  figures(): BackupFigures {
    return this.#figures;
  }

  /** Never rejects. */
  async lookForNewest(): Promise<void> {
    try {
      await this.#findNewest();
    } catch (error) {
      this.#fail(error);
    }
  }

  async look(signal: AbortSignal): Promise<void> {
    const { clock } = this.#deps;
    try {
      if (clock.monotonic() < this.#retryAtMs) return;
      if ((await this.#isDue()) && (await this.#make(signal))) {
        this.#count({ succeeded: this.#figures.succeeded + 1 });
        await this.#findNewest();
      }
      this.#failure = undefined;
    } catch (thrown) {
      const error = toStewardError(signal.aborted ? signal.reason : thrown);
      if (!signal.aborted || error.code !== "cancelled") this.#fail(error);
    }
  }

  #fail(thrown: unknown): void {
    const error = toStewardError(thrown);
    this.#count({ failed: this.#figures.failed + 1 });
    this.#retryAtMs = this.#deps.clock.monotonic() + RETRY_MS;
    this.#failure = `the last backup failed: ${ownMessage(error)}`;
    this.#deps.log.warn("the backup failed; the next attempt is in one hour", {
      error,
      directory: this.#options.target,
    });
  }

  async #isDue(): Promise<boolean> {
    const { clock } = this.#deps;
    return isBackupDue({
      newestMs: await this.#findNewest(),
      nowMs: clock.now(),
      at: this.#options.at,
      upMs: clock.monotonic() - this.#startedMs,
    });
  }

  async #findNewest(): Promise<number | undefined> {
    const { clock } = this.#deps;
    this.#listing ??= this.#kept.list().finally(() => (this.#listing = undefined));
    const kept = await this.#answer(this.#listing);
    const nowMs = clock.now();
    const newestMs = kept.find(({ madeAtMs }) => !isDatedAhead(madeAtMs, nowMs))?.madeAtMs;
    this.#count({ newestMs });
    return newestMs;
  }

  async #freeBytes(): Promise<number> {
    const { freeBytes = freeBytesOf } = this.#deps;
    this.#measuring ??= freeBytes(this.#options.target).finally(
      () => (this.#measuring = undefined),
    );
    return await this.#answer(this.#measuring);
  }

  /** Throws `not_ready` when the folder of the backups takes longer than it may. */
  async #answer<T>(call: Promise<T>): Promise<T> {
    const answer = await waitFor(call, { clock: this.#deps.clock, timeoutMs: ANSWER_MS });
    if (answer !== late) return answer;
    throw new StewardError(
      "not_ready",
      `the folder of the backups, ${this.#options.target}, does not answer`,
      { remedy: "see whether its disk or network share works" },
    );
  }

  #count(figures: Partial<BackupFigures>): void {
    this.#figures = { ...this.#figures, ...figures };
  }

  /** False where there is nothing to back up. */
  async #make(signal: AbortSignal): Promise<boolean> {
    const { clock, log, run } = this.#deps;
    const { directory, target, keep, version } = this.#options;
    const derived = this.#options.derived();
    const elsewhere = this.#options.elsewhere?.() ?? [];
    const folder = { directory, derived, elsewhere };
    if (storesToCopy(folder).length === 0) return false;
    await this.#kept.removeIncomplete();
    assertRoom(await this.#freeBytes(), { target, folder, remedy: REMEDY });
    const name = await this.#kept.nameAt(clock.now());
    try {
      const { stores: made } = await run(
        { ...folder, target: join(target, name), version },
        signal,
      );
      const removed = await this.#kept.removeOldest({ keep, fresh: name, nowMs: clock.now() });
      log.info("backup made and verified", {
        path: join(target, name),
        stores: made.length,
        bytes: made.reduce((sum, { bytes }) => sum + bytes, 0),
        removed: removed.length,
      });
      return true;
    } catch (error) {
      await rm(join(target, name), { recursive: true, force: true });
      throw error;
    }
  }
}

/** Free bytes where the folder is or would be created. Throws system errors. */
async function freeBytesOf(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const parent = dirname(folder);
    if (systemCodeOf(error) !== "ENOENT" || parent === folder) throw error;
    return await freeBytesOf(parent);
  }
}

/**
 * Throws `disk_full` with the remedy when the disk of the target has no room for a copy of the
 * folder's stores. Blocks while that disk does not answer: for a local target only.
 */
export function checkRoom(target: string, folder: StoresOf, remedy: string): void {
  const { bavail, bsize } = statfsSync(target);
  assertRoom(bavail * bsize, { target, folder, remedy });
}

interface Room {
  readonly target: string;
  readonly folder: StoresOf;
  readonly remedy: string;
}

function assertRoom(freeBytes: number, { target, folder, remedy }: Room): void {
  const bytes = storesToCopy(folder).reduce(
    (sum, { directory, name }) => sum + fileBytes(join(directory, `${name}.mdb`)),
    0,
  );
  if (freeBytes >= bytes * 1.1 + SPARE_BYTES) return;
  throw new StewardError("disk_full", `${target} has no space for a backup of ${bytes} bytes`, {
    rule: "space for a backup",
    remedy,
  });
}

type StoresOf = Required<Pick<BackupJob, "directory" | "derived" | "elsewhere">>;

function storesToCopy({ directory, derived, elsewhere }: StoresOf): StoreLocation[] {
  const names = storeNames(directory);
  return [
    ...names.filter((name) => !derived.includes(name)).map((name) => ({ directory, name })),
    ...locateExternalStores(names, elsewhere),
  ];
}
