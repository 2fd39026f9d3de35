/**
 * Copies all environments of a state folder as of one instant, also while a daemon goes on writing
 * them: it writes nothing while they are opened and pinned (`Quiet`). Together they are the state
 * that a crash at that moment would have left.
 */
import { existsSync, readdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { open } from "lmdb";
import type { RootDatabase } from "lmdb";
import type { Clock } from "../../base/clock.ts";
import { StewardError, systemCodeOf } from "../../base/errors.ts";
import { giveFolderToParentOwner } from "../../base/system/folder-owner.ts";
import { makeFolder } from "../../base/system/folder.ts";
import { backupState, pinState, rawStores, writeWhole } from "./backup.ts";
import type { PinnedState } from "./backup.ts";
import { lockStateDirectory } from "../folder/directory-lock.ts";
import { lostStore, lostStores } from "../folder/known-stores.ts";
import { lmdbError } from "../file/lmdb-error.ts";
import { prepareLockFile } from "../file/lock-file.ts";
import type { BackupReport } from "../types.ts";
import { verifyFile } from "../file/verify-file.ts";

/** The file that makes a backup complete. */
export const MANIFEST = "manifest.json";

const FOREIGN_STORES = 256;

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

/**
 * Runs a step while nobody writes the stores. A write while they are opened could be lost
 * (docs/decisions/state-backup.md).
 */
export type Quiet = <T>(step: () => T) => Promise<T>;

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
  /**
   * Of the process that has the folder; without it the folder is locked for the whole backup, and
   * files that nobody has verified are verified first.
   */
  readonly quiet?: Quiet;
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
 * for a target that is not empty and, without `quiet`, for a folder in use, `corrupt` when a copy
 * does not match its store's row counts; the partial copy is then removed.
 */
export async function backupFolder(options: FolderBackupOptions): Promise<BackupManifest> {
  const { directory, target, derived, elsewhere = [] } = options;
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
  const locations = [...names.map((name) => ({ directory, name })), ...outside];
  const leftOut = all.filter((name) => derived.includes(name));
  const { quiet } = options;
  if (quiet !== undefined) {
    prepareTarget(target);
    return await copyStores(locations, leftOut, { ...options, quiet });
  }
  const lock = lockStateDirectory(directory);
  try {
    prepareTarget(target);
    // A daemon has verified its files. These may be damaged, and LMDB must not map damaged ones.
    await verifyPaths(locations);
    const alone: Quiet = (step) => Promise.resolve(step());
    return await copyStores(locations, leftOut, { ...options, quiet: alone });
  } finally {
    lock.release();
  }
}

async function copyStores(
  locations: readonly StoreLocation[],
  leftOut: readonly string[],
  {
    target,
    version,
    quiet,
    clock,
    signal,
    copied,
  }: FolderBackupOptions & { readonly quiet: Quiet },
): Promise<BackupManifest> {
  const sources: Source[] = [];
  const stores: BackupReport[] = [];
  try {
    signal.throwIfAborted();
    const states = await quiet(() => {
      const madeAtMs = clock.now();
      for (const location of locations) sources.push(openSource(location));
      return sources.map((source) => pinState({ ...source, madeAtMs }));
    });
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
      leftOut,
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

/**
 * Sorted names of the stores of a folder; throws `not_found` when the folder does not exist,
 * `invalid` for a file.
 */
export function storeNames(directory: string): string[] {
  try {
    return readdirSync(directory)
      .filter((file) => file.endsWith(".mdb"))
      .map((file) => file.slice(0, -".mdb".length))
      .sort();
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT")
      throw notFolder(cause, directory, "name a state folder or a backup");
    throw new StewardError("not_found", `the folder ${directory} is missing`, { cause });
  }
}

/** The error to throw for one of the system: in other words when the path is that of a file. */
function notFolder(cause: unknown, path: string, remedy: string): unknown {
  return systemCodeOf(cause) === "ENOTDIR"
    ? new StewardError("invalid", `${path} is not a folder`, { remedy, cause })
    : cause;
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

/**
 * Creates the folder; throws `conflict` when it holds anything, `invalid` for a file. Made by root
 * below a folder of another user it is that user's: a daemon keeps its own backups beside those that
 * root makes.
 */
export function prepareTarget(target: string): void {
  const remedy = "choose a new or an empty folder";
  let names: readonly string[];
  try {
    makeFolder(target, giveFolderToParentOwner);
    names = readdirSync(target);
  } catch (error) {
    throw notFolder(error, target, remedy);
  }
  if (names.length > 0)
    throw new StewardError("conflict", `${target} is not empty`, { rule: "empty target", remedy });
}

async function verifyPaths(locations: readonly StoreLocation[]): Promise<void> {
  for (const { directory, name } of locations)
    await verifyFile(join(directory, `${name}.mdb`), { depth: "paths" });
}

function openSource({ directory, name }: StoreLocation): Source {
  const path = join(directory, `${name}.mdb`);
  prepareLockFile(path);
  let root: RootDatabase<Buffer, Uint8Array> | undefined;
  try {
    root = open<Buffer, Uint8Array>({
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
    void root?.close();
    throw lmdbError(error, path);
  }
}
