/**
 * Records which stores were created in a state folder: one small file each in `stores`. A recorded
 * store without a data file was lost, which a new empty store would hide. Only the file names
 * count; their contents are for people.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { StewardError } from "../../base/errors.ts";
import { syncFolder } from "../../base/system/folder.ts";

const FOLDER = "stores";

export interface KnownStores {
  /**
   * Throws `not_found` with the remedy when the store is recorded. Call for a store without a data
   * file.
   */
  assertUnknown(name: string): void;
  /** Records the store durably; a no-op when it is recorded. Throws system errors. */
  remember(name: string): void;
}

export function knownStores(directory: string): KnownStores {
  return {
    assertUnknown(name) {
      const error = lostStore(directory, name);
      if (error !== undefined) throw error;
    },
    remember(name) {
      if (existsSync(join(directory, FOLDER, name))) return;
      mkdirSync(join(directory, FOLDER), { mode: 0o700, recursive: true });
      writeDurably(
        join(directory, FOLDER, name),
        `Steward created the store ${name}.mdb in this state folder. While this file exists, a missing ${name}.mdb is an error.\n`,
      );
      for (const folder of [join(directory, FOLDER), directory]) syncFolder(folder);
    },
  };
}

/** Sorted names of recorded stores without a data file. */
export function lostStores(directory: string): string[] {
  return namesIn(join(directory, FOLDER))
    .filter((name) => !existsSync(join(directory, `${name}.mdb`)))
    .sort();
}

/** The error for a recorded store without a data file; undefined when it is not recorded. */
export function lostStore(directory: string, name: string): StewardError | undefined {
  const marker = join(directory, FOLDER, name);
  if (!existsSync(marker)) return undefined;
  return new StewardError(
    "not_found",
    `${join(directory, `${name}.mdb`)} is missing, and this state folder had that store`,
    {
      rule: "missing store",
      remedy: `stop Steward and put the file back or restore a backup (docs/recovery.md); to begin with an empty store, remove ${marker}`,
    },
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // a backup, or a folder of an older Steward
  }
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
