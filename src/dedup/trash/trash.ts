/** The system's trash: where a file goes, moving it there, and back. */
import { link, lstat, mkdir, realpath, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { StewardError } from "../../kernel/base/errors.ts";
import { freedesktopPlaces } from "./freedesktop.ts";
import { macosPlaces } from "./macos.ts";
import { describes, writeTrashInfo } from "./trash-info.ts";
import type { TrashPlace, TrashPlaces, TrashUser } from "./types.ts";

/** Names that are tried for one file. */
const ATTEMPTS = 10_000;

export interface Trash {
  /**
   * A free place for a file. Nothing is reserved: `move` says when it was taken meanwhile. Throws
   * `unsupported` when the file's disk has no trash.
   */
  place(path: string): Promise<TrashPlace>;
  /**
   * Moves a file. False when the place was taken meanwhile and nothing was moved. A move that was
   * interrupted can be done again. Throws the system's error.
   */
  move(from: string, place: TrashPlace, now: Date): Promise<boolean>;
}

/** The trash of this user on this system. */
export function createTrash(user: TrashUser): Trash {
  const places: TrashPlaces =
    user.platform === "darwin" ? macosPlaces(user) : freedesktopPlaces(user);
  return {
    async place(path) {
      const nameAt = await places.placesFor(path);
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const place = nameAt(attempt);
        if (!(await exists(place.to)) && !(place.info && (await exists(place.info)))) return place;
      }
      throw new StewardError("exhausted", `the trash holds ${ATTEMPTS} files of the same name`, {
        remedy: "empty the trash",
      });
    },
    async move(from, place, now) {
      if (await exists(place.to)) return false;
      if (!(await writeTrashInfo(place, now))) return false;
      try {
        await rename(from, place.to);
      } catch (error) {
        if (place.info !== undefined) await unlink(place.info);
        throw error;
      }
      return true;
    },
  };
}

/**
 * Moves a file back where it came from, with missing folders. Never replaces what is there: throws
 * EEXIST. After an interruption it can be done again.
 */
export async function restoreFromTrash(from: string, place: TrashPlace): Promise<void> {
  const folder = dirname(from);
  await mkdir(folder, { recursive: true });
  if ((await realpath(folder)) !== folder)
    throw new StewardError("conflict", `${folder} is a symbolic link now`, {
      remedy: "move the file from the trash by hand",
    });
  await moveWithoutReplacing(place.to, from);
  if (place.info !== undefined) await unlink(place.info).catch(unlessMissing);
}

/** Removes what an interrupted move left in the trash beside a file that was never moved. */
export async function forgetPlace({ info, infoPath }: TrashPlace): Promise<void> {
  if (info !== undefined && (await describes(info, infoPath))) await unlink(info);
}

/** `rename` would replace the target; a second name cannot. */
async function moveWithoutReplacing(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && (await isSameFile(from, to))) {
      await unlink(from);
      return;
    }
    // File systems without hard links.
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(code ?? "")) throw error;
    if (await exists(to)) throw Object.assign(new Error(`${to} exists`), { code: "EEXIST" });
    await rename(from, to);
    return;
  }
  await unlink(from);
}

/** Whether both are one file, as an interrupted move back leaves it. */
export async function isSameFile(a: string, b: string): Promise<boolean> {
  const [one, other] = await Promise.all([
    lstat(a, { bigint: true }).catch(unlessMissing),
    lstat(b, { bigint: true }).catch(unlessMissing),
  ]);
  return one !== undefined && other !== undefined && one.dev === other.dev && one.ino === other.ino;
}

/** Whether there is anything at a path, also a link to nowhere. */
export async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(unlessMissing)) !== undefined;
}

function unlessMissing(error: unknown): undefined {
  if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
  throw error;
}
