/**
 * One process per state folder. The lock is a lock of the operating system on the file `lock`, taken through SQLite (Node has
 * no lock call of its own): the kernel drops it when its holder dies, however it dies, so nothing stale can block a start and
 * two starters cannot both win. The holder's process id stands beside it in `lock.pid`, for the message only.
 */
import { chmodSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StewardError } from "../base/errors.ts";
import { makeFolder } from "../base/folder.ts";

const SQLITE_BUSY = 5;

/** Held here, since SQLite lets go of a lock whose handle is collected as garbage. */
const held = new Set<DatabaseSync>();

/** A held state folder. */
export interface DirectoryLock {
  readonly directory: string;
  /** Lets the next process in. May be called twice. */
  release(): void;
}

/**
 * Creates the folder (0700) when it is missing and takes it for this process. Throws `conflict` naming the folder and the
 * holder's process id when another process has it, `denied` or the like when the folder cannot be made or written.
 */
export function lockStateDirectory(directory: string): DirectoryLock {
  makeFolder(directory);
  chmodSync(directory, 0o700);
  const holderFile = join(directory, "lock.pid");
  const lock = take(directory, holderFile);
  writeFileSync(holderFile, `${process.pid}\n`, { mode: 0o600 });
  held.add(lock);
  return {
    directory,
    release() {
      if (!held.delete(lock)) return;
      rmSync(holderFile, { force: true });
      lock.close();
    },
  };
}

function take(directory: string, holderFile: string): DatabaseSync {
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(join(directory, "lock"), { timeout: 0 });
    file.exec("BEGIN EXCLUSIVE");
    return file;
  } catch (error) {
    file?.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) {
      throw new StewardError("denied", `the state folder ${directory} cannot be locked`, { remedy: "let this user write to it", cause: error });
    }
    throw new StewardError("conflict", `the state folder ${directory} is in use by process ${readHolder(holderFile)}`, {
      remedy: "stop that process, or choose another folder with state.directory", rule: "one process per state folder",
    });
  }
}

function readHolder(file: string): string {
  try {
    return readFileSync(file, "utf8").trim() || "unknown";
  } catch {
    return "unknown"; // the holder is between taking the lock and writing its id
  }
}
