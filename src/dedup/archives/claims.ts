/**
 * Lets each file be read under one path only: read twice, it would be a duplicate of itself, and
 * whoever deletes the other one deletes the only one.
 */
import type { BigIntStats } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { versionOf } from "../../../workers/text/location.ts";

/** A file that an archive is about to read. */
export interface FileToClaim {
  /** Absolute, without links as far as it could be looked up. */
  readonly path: string;
  /** Undefined for what cannot be looked up; reading it says why. */
  readonly stats: BigIntStats | undefined;
  /** The folder that holds this name; absent for a file of one name. */
  readonly folder?: Pick<BigIntStats, "dev" | "ino"> | undefined;
}

/** Whether a file is the asking archive's to read, and was not claimed before. */
export type Claim = (file: FileToClaim) => boolean;

/** A file as it is claimed. Never rejects. */
export async function fileToClaim(path: string): Promise<FileToClaim> {
  const [real, stats] = await Promise.all([
    // A pipe without a name, such as that of `<(produce lines)`, has no real path and is one of its
    // own.
    realpath(path).catch(() => resolve(path)),
    lookUp(path),
  ]);
  return await withFolder({ path: real, stats });
}

/** The same for a path that is known to be a real one. */
export async function realFileToClaim(path: string): Promise<FileToClaim> {
  return await withFolder({ path, stats: await lookUp(path) });
}

async function withFolder(file: FileToClaim): Promise<FileToClaim> {
  const { path, stats } = file;
  return stats !== undefined && stats.nlink > 1n
    ? { ...file, folder: await lookUp(dirname(path)) }
    : file;
}

async function lookUp(path: string): Promise<BigIntStats | undefined> {
  return await stat(path, { bigint: true }).catch(() => undefined);
}

/**
 * Claims for one run. A bind mount, or a disk that ignores case, gives a file several real paths, so
 * a file has as many claims as it has names, and each name in a folder has one. Of two hard links
 * one may go while the other stays: they are two documents, as copies are. `byPath` is needed only
 * where a path may come twice. Memory: about 100 bytes a file, its path with `byPath`, and about 150
 * bytes for each name of a hard-linked file.
 */
export function createClaims({ byPath }: { readonly byPath: boolean }): Claim {
  const paths = new Set<string>();
  const claims = new Map<string, number>();
  const names = new Set<string>();
  return ({ path, stats, folder }) => {
    if (paths.has(path)) return false;
    if (byPath) paths.add(path);
    const file = stats && identityOf(stats);
    if (file === undefined) return true;
    if (folder !== undefined && folder.ino !== 0n) {
      const name = `${file}:${folder.dev}:${folder.ino}/${basename(path)}`;
      if (names.has(name)) return false;
      names.add(name);
    }
    const before = claims.get(file) ?? 0;
    claims.set(file, before + 1);
    // Some file systems count no names.
    return before < Math.max(1, Number(stats?.nlink));
  };
}

/**
 * Undefined where the file system numbers no files. Some give one number to several files: to be
 * taken for one, two must agree in size and time, too.
 */
function identityOf(stats: BigIntStats): string | undefined {
  return stats.isFile() && stats.ino !== 0n ? `${stats.dev}:${versionOf(stats)}` : undefined;
}
