/**
 * The lock file of a store, `PATH-lock`, which LMDB maps into memory. Made and tried before LMDB
 * opens it: lmdb 3.5.6 ends the process with SIGSEGV when it cannot be opened, and a file that LMDB
 * makes has holes, where a full disk ends the process with SIGBUS.
 */
import {
  accessSync,
  closeSync,
  constants,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { StewardError, systemCodeOf, toStewardError } from "../../base/errors.ts";
import { diskFaultOf } from "../../base/system/disk-faults.ts";
import { giveToFolderOwner } from "../../base/system/folder-owner.ts";
import { lmdbError } from "./lmdb-error.ts";

/** LMDB's size for 126 readers, in whole pages. */
const LOCK_FILE_BYTES = 12_288;
const NO_FILE = "it is no file";

/**
 * Makes a missing lock file, with mode 0600 and its blocks allocated; throws an error that names the
 * file if it, or one that is there, cannot be read and written. One that may be in use is not
 * opened: closing it would release the locks that LMDB holds on it in this process (fcntl(2)).
 */
export function prepareLockFile(path: string): void {
  const lock = `${path}-lock`;
  try {
    const found = statSync(lock, { throwIfNoEntry: false });
    if (found === undefined || found.size === 0) allocate(lock);
    else if (!found.isFile()) throw new Error(NO_FILE);
    else accessSync(lock, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw unusable(lock, path, error);
  }
}

function allocate(lock: string): void {
  const descriptor = openSync(lock, "w", 0o600);
  try {
    giveToFolderOwner(descriptor, lock);
    writeFileSync(descriptor, new Uint8Array(LOCK_FILE_BYTES)); // whole, where writeSync may stop early
  } catch (error) {
    rmSync(lock, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function unusable(lock: string, path: string, cause: unknown): StewardError {
  if (diskFaultOf(cause) !== undefined) return lmdbError(cause, path);
  return new StewardError(
    toStewardError(cause).code,
    `${lock} cannot be opened (${systemCodeOf(cause) ?? NO_FILE})`,
    {
      remedy:
        "let Steward's user read and write it, or stop Steward and delete it: the next start makes a new one",
      cause,
    },
  );
}
