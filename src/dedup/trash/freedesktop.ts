/**
 * The trash of Linux desktops, by the freedesktop.org Trash specification 1.0: the home trash for
 * files on its disk, otherwise `.Trash/$uid` or `.Trash-$uid` at the top of the file's disk.
 */
import { lstat, mkdir, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, relative } from "node:path";
import { StewardError } from "../../kernel/base/errors.ts";
import { trashName } from "./trash-names.ts";
import type { TrashPlaces, TrashUser } from "./types.ts";

const STICKY = 0o1000;

/** A trash folder with its folders `files` and `info`. */
interface TrashFolder {
  readonly folder: string;
  /** What paths in `info` are relative to; absolute in the home trash. */
  readonly top?: string;
}

export function freedesktopPlaces(user: TrashUser): TrashPlaces {
  return {
    async placesFor(path) {
      const { folder, top } = await folderFor(path, user);
      for (const name of ["files", "info"]) await makePrivate(join(folder, name), user);
      const infoPath = top === undefined ? path : relative(top, path);
      return (attempt) => {
        const name = trashName(path, attempt);
        return {
          to: join(folder, "files", name),
          info: join(folder, "info", `${name}.trashinfo`),
          infoPath,
        };
      };
    },
  };
}

async function folderFor(path: string, user: TrashUser): Promise<TrashFolder> {
  // Of the folder: on an overlay file system a file can seem to be on another disk.
  const { dev } = await stat(dirname(path));
  const home = homeTrash(user);
  if (home !== undefined && (await deviceOf(home)) === dev) {
    await makePrivate(home, user);
    return { folder: home };
  }
  const top = await topOf(dirname(path), dev);
  const shared = join(top, ".Trash");
  if (await isShared(shared)) {
    const own = join(shared, String(user.userId));
    if (await makePrivate(own, user).then(...succeeded)) return { folder: own, top };
  }
  const own = join(top, `.Trash-${user.userId}`);
  await makePrivate(own, user);
  return { folder: own, top };
}

const succeeded = [() => true, () => false] as const;

function homeTrash({ environment }: TrashUser): string | undefined {
  const { XDG_DATA_HOME: data, HOME: home } = environment;
  // By the base directory specification a relative path counts as none.
  if (data !== undefined && isAbsolute(data)) return join(data, "Trash");
  return home !== undefined && isAbsolute(home) ? join(home, ".local/share/Trash") : undefined;
}

/** The disk of a folder, or of the first folder above it that exists. */
async function deviceOf(folder: string): Promise<number> {
  try {
    return (await stat(folder)).dev;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || dirname(folder) === folder)
      throw error;
    return await deviceOf(dirname(folder));
  }
}

/** The highest folder on the same disk. */
async function topOf(folder: string, dev: number): Promise<string> {
  const parent = dirname(folder);
  return parent === folder || (await stat(parent)).dev !== dev ? folder : topOf(parent, dev);
}

/** Whether an administrator made the folder for the trash of all users: the specification's checks. */
async function isShared(folder: string): Promise<boolean> {
  try {
    const facts = await lstat(folder);
    return facts.isDirectory() && (facts.mode & STICKY) !== 0;
  } catch {
    return false;
  }
}

/** Creates a folder for this user alone. Throws `unsupported` when it cannot be one. */
async function makePrivate(folder: string, { userId }: TrashUser): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const facts = await lstat(folder);
    if (facts.isDirectory() && facts.uid === userId) return;
  } catch (cause) {
    throw noTrash(folder, (cause as NodeJS.ErrnoException).code ?? "failed", cause);
  }
  throw noTrash(folder, "it is a link, or belongs to another user");
}

function noTrash(folder: string, why: string, cause?: unknown): StewardError {
  return new StewardError("unsupported", `the trash ${folder} cannot be used: ${why}`, {
    remedy: "create it for your user, or remove the file by hand",
    ...(cause === undefined ? {} : { cause }),
  });
}
