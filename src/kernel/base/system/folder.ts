/**
 * Creates and flushes folders with mode 0700. Node's own recursive mkdir never returns below some
 * kernel file systems, such as /proc.
 */
import { closeSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";

const PRIVATE = 0o700;

/**
 * Creates the folder and missing parents, and calls `made` after each. Throws system errors.
 */
export function makeFolder(path: string, made: (path: string) => void = () => {}): void {
  try {
    mkdirSync(path, { mode: PRIVATE });
    made(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return;
    if (code !== "ENOENT" || dirname(path) === path) throw error;
    makeFolder(dirname(path), made);
    mkdirAfterParent(path, made);
  }
}

/** The parent exists now; a further error is final. */
function mkdirAfterParent(path: string, made: (path: string) => void): void {
  try {
    mkdirSync(path, { mode: PRIVATE });
    made(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

/** Flushes the directory entries of a folder. Throws system errors. */
export function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
