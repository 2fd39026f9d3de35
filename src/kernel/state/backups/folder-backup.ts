/**
 * Copies all environments of a state folder as of one instant, also while a daemon writes them:
 * LMDB allows a second process to read. All states are pinned first; if none was committed to in
 * between, together they are the state that a crash at that moment would have left.
 */
import { existsSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { open } from "lmdb";
import type { RootDatabase } from "lmdb";
import type { Clock } from "../../base/clock.ts";
import { StewardError } from "../../base/errors.ts";
import { makeFolder } from "../../base/folder.ts";
import { backupState, pinState, rawStores, writeWhole } from "./backup.ts";
import type { PinnedState } from "./backup.ts";
import { lockStateDirectory } from "../folder/directory-lock.ts";
import { lostStore, lostStores } from "../folder/known-stores.ts";
import { lmdbError } from "../file/lmdb-error.ts";
import type { BackupReport } from "../types.ts";
import { verifyFile } from "../file/verify-file.ts";
import { delay } from "../../base/clock.ts";

/** The file that makes a backup complete. */
export const MANIFEST = "manifest.json";

const FOREIGN_STORES = 256;
const PIN_ATTEMPTS = 1_000;

export interface BackupManifest {
  readonly format: 1;
  /** Version of the Steward that made it. */
  readonly steward: string;
  readonly madeAtMs: number;
  readonly stores: readonly BackupReport[];
  /** Derived stores, which Steward rebuilds from the others. */
  readonly leftOut: readonly string[];
}

/** A store and its directory. */
export interface StoreLocation {
  readonly directory: string;
  readonly name: string;
}

export interface FolderBackupOptions {
  readonly directory: string;
  /** Created if missing; must be empty. */
  readonly target: string;
  /** Derived stores to leave out. */
  readonly derived: readonly string[];
  /**
   * Stores outside the folder that belong to it, copied as of the same instant; missing ones are
   * skipped.
   */
  readonly elsewhere?: readonly StoreLocation[];
  readonly version: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called after each copied store. */
  readonly copied: (report: BackupReport) => void;
}

interface Source {
  readonly name: string;
  readonly path: string;
  readonly root: RootDatabase<Buffer, Uint8Array>;
  readonly stores: PinnedState["stores"];
}

/**
 * Makes the backup. Throws `not_found` for a folder without stores or with a lost one, `conflict`
 * for a target that is not empty, `corrupt` when a copy does not match its store's row counts; the
 * partial copy is then removed.
 */
export async function backupFolder(options: FolderBackupOptions): Promise<BackupManifest> {
  const { directory, target, derived, elsewhere = [], version, clock, signal, copied } = options;
  // A backup without the lost store would count as complete, and older ones that contain it would
  // be deleted.
  const [lost] = lostStores(directory);
  if (lost !== undefined) throw lostStore(directory, lost);
  const all = storeNames(directory);
  const names = all.filter((name) => !derived.includes(name));
  const outside = locateExternalStores(all, elsewhere);
  if (names.length + outside.length === 0)
    throw new StewardError("not_found", `${directory} holds no stores to back up`, {
      remedy: "name the state folder with -config or STEWARD_STATE__DIRECTORY",
    });
  prepareTarget(target);
  const sources: Source[] = [];
  const stores: BackupReport[] = [];
  try {
    const locations = [...names.map((name) => ({ directory, name })), ...outside];
    await verifyUnused(directory, locations);
    for (const location of locations) sources.push(openSource(location));
    const states = await pinTogether(sources, clock, signal);
    for (const state of states) {
      const report = await backupState(state, target, signal).finally(() => state.done());
      stores.push(report);
      copied(report);
    }
    const manifest: BackupManifest = {
      format: 1,
      steward: version,
      madeAtMs: states[0]?.madeAtMs ?? clock.now(),
      stores,
      leftOut: all.filter((name) => derived.includes(name)),
    };
    await writeWhole(target, MANIFEST, manifest);
    return manifest;
  } catch (error) {
    for (const file of [...stores.flatMap(({ file }) => [file, `${file}.json`]), MANIFEST])
      await rm(join(target, file), { force: true });
    throw error;
  } finally {
    for (const { root } of sources) await root.close();
  }
}

/** Sorted names of the stores of a folder; throws `not_found` when the folder does not exist. */
export function storeNames(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((file) => file.endsWith(".mdb"))
      .map((file) => file.slice(0, -".mdb".length))
      .sort();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    throw new StewardError("not_found", `the folder ${directory} is missing`, { cause });
  }
}

/**
 * The locations that hold a store. Throws `conflict` when one has the name of a store of the
 * folder: the backup has one file per name.
 */
export function locateExternalStores(
  names: readonly string[],
  elsewhere: readonly StoreLocation[],
): StoreLocation[] {
  const there = elsewhere.filter(({ directory, name }) =>
    existsSync(join(directory, `${name}.mdb`)),
  );
  const taken = there.find(({ name }) => names.includes(name));
  if (taken !== undefined)
    throw new StewardError(
      "conflict",
      `${join(taken.directory, `${taken.name}.mdb`)} has the name of a store in the state folder`,
      {
        rule: "one file for each name in a backup",
        remedy: "give it another name, or move the unused file away",
      },
    );
  return there;
}

function prepareTarget(target: string): void {
  makeFolder(target);
  if (readdirSync(target).length > 0)
    throw new StewardError("conflict", `${target} is not empty`, {
      rule: "empty target",
      remedy: "choose a new or an empty folder",
    });
}

// A daemon has verified the files it has open. Others may be damaged, and LMDB must not map those.
async function verifyUnused(directory: string, locations: readonly StoreLocation[]): Promise<void> {
  try {
    const lock = lockStateDirectory(directory);
    try {
      for (const location of locations)
        await verifyFile(join(location.directory, `${location.name}.mdb`), { depth: "paths" });
    } finally {
      lock.release();
    }
  } catch (error) {
    if (!(error instanceof StewardError) || error.code !== "conflict") throw error;
  }
}

function openSource({ directory, name }: StoreLocation): Source {
  const path = join(directory, `${name}.mdb`);
  try {
    const root = open<Buffer, Uint8Array>({
      path,
      noSubdir: true,
      readOnly: true,
      overlappingSync: false,
      encoding: "binary",
      keyEncoding: "binary",
      maxDbs: FOREIGN_STORES,
    });
    return { name, path, root, stores: rawStores(root) };
  } catch (error) {
    throw lmdbError(error, path);
  }
}

async function pinTogether(
  sources: readonly Source[],
  clock: Clock,
  signal: AbortSignal,
): Promise<PinnedState[]> {
  for (let attempt = 0; attempt < PIN_ATTEMPTS; attempt += 1) {
    signal.throwIfAborted();
    const before = sources.map(lastCommit);
    const madeAtMs = clock.now();
    const states = sources.map((source) => pinState({ ...source, madeAtMs }));
    if (sources.every((source, at) => lastCommit(source) === before[at])) return states;
    for (const state of states) state.done();
    await delay(clock, 1); // LMDB's wrapper gives a new snapshot only in a later turn
  }
  throw new StewardError(
    "exhausted",
    "the stores are written to continuously, so no consistent point in time was found",
    { remedy: "retry when fewer writes are made" },
  );
}

function lastCommit({ root }: Source): number {
  return (root.getStats() as { lastTxnId: number }).lastTxnId;
}
