/** Who owns files that a command of root makes in a folder of somebody else. */
import { closeSync, constants, fchownSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Gives a file to the owner of its folder, if this process is root's: a daemon of that user
 * could not open it otherwise. Without the right to do so the file stays root's.
 */
export function giveToFolderOwner(descriptor: number, path: string): void {
  if (process.geteuid?.() !== 0) return;
  try {
    const { uid, gid } = statSync(dirname(path));
    fchownSync(descriptor, uid, gid);
  } catch {
    // A file system without owners, or a root without that capability.
  }
}

/** Does the same for a folder that was just made. */
export function giveFolderToParentOwner(path: string): void {
  if (process.geteuid?.() !== 0) return;
  // The parent's owner could have put a link in its place.
  const folder = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    giveToFolderOwner(folder, path);
  } finally {
    closeSync(folder);
  }
}
