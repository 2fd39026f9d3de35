/**
 * Makes folders for this user alone, and flushes them. Node's own recursive call never returns
 * below some file systems of the kernel, such as /proc.
 */
import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

const PRIVATE = 0o700;

/**
 * Makes the folder and those above it, as far as they are missing. Throws what the system throws.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: PRIVATE });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    makeFolder(dirname(path));
    mkdirAfterParent(path);
  }
}

/** The parent is there now; that it still says otherwise is the file system's last word. */
function mkdirAfterParent(path: string): void {
  try {
    mkdirSync(path, { mode: PRIVATE });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Flushes the names in a folder to the disk. Throws what the system throws. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
