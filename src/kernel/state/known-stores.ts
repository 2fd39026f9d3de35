/**
 * Remembers in the state folder which stores were made there: one small file for each in `stores`.
 * A store that is known and has no file was lost, and a new empty one in its place would hide that.
 * What the files hold is for people; only their names count.
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
import { StewardError } from "../base/errors.ts";
import { syncFolder } from "../base/folder.ts";

const FOLDER = "stores";

/** The stores that a state folder knows. */
export interface KnownStores {
  /**
   * Throws `not_found` with the remedy when the store is known. To be called for a store without a
   * file.
   */
  assertUnknown(name: string): void;
  /**
   * Makes the store known, on disk when it returns; does nothing when it is. Throws what the system
   * throws.
   */
  remember(name: string): void;
}

/** Those of a folder. */
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

/** Names of the known stores of a folder that have no file there, in order. */
export function lostStores(directory: string): string[] {
  return namesIn(join(directory, FOLDER))
    .filter((name) => !existsSync(join(directory, `${name}.mdb`)))
    .sort();
}

/** What is wrong with a known store without a file; undefined when the store is not known. */
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
