/**
 * Ensures that one process uses a state folder. Holds two locks of the operating system, which the
 * kernel releases whenever their holder dies, so that no stale lock blocks a start and two starts
 * cannot both succeed: one on the file `lock`, taken through SQLite (Node has no file lock call),
 * which also works across containers that share the folder; and a name for the folder itself
 * (`directory-name.ts`), which survives deletion of that file. `lock.pid` holds the process id, for
 * the error message only.
 */
import {
  chmodSync,
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StewardError } from "../../base/errors.ts";
import { makeFolder } from "../../base/system/folder.ts";
import { giveToFolderOwner } from "../../base/system/folder-owner.ts";
import { holdDirectoryName, type HeldName } from "./directory-name.ts";

/** The rule of the error that names the other process. */
export const SOLE_PROCESS = "one process per state folder";
/** The configuration key of the folder that is usually locked. */
const STATE_SETTING = "state.directory";
const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
/** The bit of a mode by which users share a folder. */
const STICKY = 0o1000;
/** In a new volume: of the file system, and the compiled code of the daemon. */
const BEFORE_LOCK: ReadonlySet<string> = new Set(["lost+found", "cache"]);
/** Stands for the code of a system error. */
const SHARED = "shared";
const SQLITE_NOT_A_DATABASE = 26;

/** Kept here because SQLite releases the lock of a garbage-collected handle. */
const held = new Set<DatabaseSync>();

export interface DirectoryLock {
  readonly directory: string;
  /** A recommendation although the folder could be locked. */
  readonly advisory: string | undefined;
  /** Releases the locks. Idempotent. */
  release(): void;
}

/**
 * Creates the folder (0700) if necessary and locks it for this process. Throws `conflict` naming
 * the folder and the holder's process id when another process has it, `denied` or the like when the
 * folder cannot be created or written. `setting` names its configuration key.
 */
export function lockStateDirectory(
  directory: string,
  setting: string = STATE_SETTING,
): DirectoryLock {
  const advisory = prepareFolder(directory, setting);
  const name = holdName(directory, setting);
  let lock: DatabaseSync;
  try {
    lock = takeFile(directory, setting);
  } catch (error) {
    name.release();
    throw error;
  }
  held.add(lock);
  writeHolder(directory);
  return {
    directory,
    advisory,
    release() {
      if (!held.delete(lock)) return;
      removeHolder(directory);
      lock.close();
      name.release();
    },
  };
}

/** Throws `conflict` while another process holds the folder. Writes nothing and keeps no lock. */
export function assertUnlocked(directory: string): void {
  holdName(directory, STATE_SETTING).release();
}

function prepareFolder(directory: string, setting: string): string | undefined {
  try {
    makeFolder(directory);
    if (!statSync(directory).isDirectory())
      throw Object.assign(new Error("is no folder"), { code: "ENOTDIR" });
    return makePrivate(directory);
  } catch (error) {
    throw unusable(directory, setting, error as NodeJS.ErrnoException);
  }
}

/**
 * A folder of another owner keeps its mode: a Kubernetes volume with `fsGroup`, a NAS share.
 */
function makePrivate(directory: string): string | undefined {
  if (isShared(directory)) throw Object.assign(new Error("is shared"), { code: SHARED });
  try {
    chmodSync(directory, 0o700);
    return undefined;
  } catch (error) {
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP"].includes((error as NodeJS.ErrnoException).code ?? ""))
      throw error;
    const mode = (statSync(directory).mode & 0o777).toString(8).padStart(4, "0");
    return `the state folder ${directory} belongs to another user and keeps its mode ${mode}; everyone who can write to it can delete its files`;
  }
}

/** Such as /tmp, which would be closed to everyone else; a new one may be a volume of memory. */
function isShared(directory: string): boolean {
  if ((statSync(directory).mode & STICKY) === 0) return false;
  const names = readdirSync(directory);
  return !names.includes("lock") && names.some((name) => !BEFORE_LOCK.has(name));
}

/** Translates a system error into one that names the folder and the remedy. */
function unusable(directory: string, setting: string, error: NodeJS.ErrnoException): StewardError {
  const code = error.code ?? "";
  const [why, remedy] = meaningOf(code, setting);
  return new StewardError(
    ["ENOSPC", "EDQUOT"].includes(code) ? "disk_full" : "denied",
    `the state folder ${directory} cannot be used: ${why}${code === SHARED ? "" : ` (${code || error.message})`}`,
    {
      field: setting,
      rule: "a folder that Steward may write to",
      remedy,
      cause: error,
    },
  );
}

function meaningOf(code: string, setting: string): readonly [why: string, remedy: string] {
  const elsewhere = `choose another folder with ${setting}`;
  switch (code) {
    case "EACCES":
    case "EPERM":
      return [
        `user ${process.geteuid?.() ?? "of this process"} may not write there`,
        `give the folder to that user, or ${elsewhere}`,
      ];
    case "ENOTDIR":
      return ["it, or a part of its path, is a file", elsewhere];
    case SHARED:
      return ["all users share it", elsewhere];
    case "EROFS":
      return ["its disk is mounted read-only", `mount it writable, or ${elsewhere}`];
    case "ENOSPC":
    case "EDQUOT":
      return ["its disk is full", `free space, or ${elsewhere}`];
    default:
      return ["no folder can be created there", elsewhere];
  }
}

function holdName(
  directory: string,
  setting: string,
): Extract<HeldName, { readonly holder?: undefined }> {
  const name = holdDirectoryName(directory);
  if (name.holder !== undefined) throw inUse(directory, setting, String(name.holder));
  return name;
}

function takeFile(directory: string, setting: string): DatabaseSync {
  const path = join(directory, "lock");
  // SQLite would follow a symbolic link and lock, or create, a file elsewhere.
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false) {
    throw new StewardError(
      "denied",
      `${path} is no regular file, so the state folder cannot be locked`,
      { remedy: `remove ${path}` },
    );
  }
  try {
    makeLockFile(path);
  } catch (error) {
    throw unusable(directory, setting, error as NodeJS.ErrnoException);
  }
  try {
    return takeThroughSqlite(path);
  } catch (error) {
    const code = (error as { errcode?: number }).errcode;
    if (code === SQLITE_BUSY) throw inUse(directory, setting, readHolder(directory));
    if (code === SQLITE_FULL)
      throw unusable(directory, setting, Object.assign(error as Error, { code: "ENOSPC" }));
    throw error instanceof StewardError
      ? error
      : new StewardError("denied", `the state folder ${directory} cannot be locked`, {
          remedy: `use a file system with file locks (a NAS share may have none), or choose another folder with ${setting}`,
          cause: error,
        });
  }
}

/** Mode 0600: SQLite would make it readable by others. */
function makeLockFile(path: string): void {
  const descriptor = openSync(path, "a", 0o600);
  giveToFolderOwner(descriptor, path);
  closeSync(descriptor);
}

function takeThroughSqlite(path: string): DatabaseSync {
  try {
    return beginExclusive(path);
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== SQLITE_NOT_A_DATABASE) throw error;
    // The file is always empty; any content is damage. A holder elsewhere keeps its lock on the
    // truncated file.
    truncateSync(path, 0);
    return beginExclusive(path);
  }
}

function beginExclusive(path: string): DatabaseSync {
  const file = new DatabaseSync(path, { timeout: 0 });
  try {
    file.exec("BEGIN EXCLUSIVE");
    return file;
  } catch (error) {
    file.close();
    throw error;
  }
}

function inUse(directory: string, setting: string, holder: string): StewardError {
  return new StewardError(
    "conflict",
    `the state folder ${directory} is in use by process ${holder}`,
    {
      remedy: `stop that process, or choose another folder with ${setting}`,
      rule: SOLE_PROCESS,
    },
  );
}

function holderFile(directory: string): string {
  return join(directory, "lock.pid");
}

/**
 * Always creates a new file, since the path may be a link to a file of another user. On failure only the
 * error message lacks the process id.
 */
function writeHolder(directory: string): void {
  try {
    removeHolder(directory);
    writeFileSync(holderFile(directory), `${process.pid}\n`, { mode: 0o600, flag: "wx" });
  } catch {
    // The lock does not depend on it.
  }
}

function removeHolder(directory: string): void {
  try {
    rmSync(holderFile(directory), { force: true });
  } catch {
    // It is a directory; the lock does not depend on it.
  }
}

function readHolder(directory: string): string {
  try {
    return readFileSync(holderFile(directory), "utf8").trim() || "unknown";
  } catch {
    return "unknown"; // the holder is between taking the lock and writing its id
  }
}
