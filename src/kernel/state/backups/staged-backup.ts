/**
 * What a running daemon and `steward backup` say to each other on the daemon's Unix socket. The
 * daemon makes the backup in its state folder, where it may write, and the command copies it to
 * where its user may write.
 */
import { constants } from "node:fs";
import { copyFile, rm, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { StewardError } from "../../base/errors.ts";
import { hashFile, syncFile, writeWhole } from "./backup.ts";
import { MANIFEST, prepareTarget, type BackupManifest } from "./folder-backup.ts";
import type { BackupReport } from "../types.ts";

/** Subfolder of the state folder; removed when the command has left. */
export const STAGING = "backup-staged";
export const BACKUP_PATH = "/backup";

/** The only event of the daemon's answer. The files stay until the command closes the connection. */
export interface StagedReply {
  readonly directory: string;
  readonly manifest: BackupManifest;
}

/**
 * Copies a complete backup, compares what arrived with its checksums, and writes the manifest last.
 * Throws `conflict` for a target that is not empty; after a failure none of it is left.
 */
export async function copyBackup(
  { directory, manifest }: StagedReply,
  {
    target,
    signal,
    copied,
  }: {
    readonly target: string;
    readonly signal: AbortSignal;
    readonly copied: (report: BackupReport) => void;
  },
): Promise<void> {
  prepareTarget(target);
  const made: string[] = [];
  try {
    for (const report of manifest.stores) {
      signal.throwIfAborted();
      const path = join(target, report.file);
      made.push(path, `${path}.json`);
      await copyFile(
        join(directory, report.file),
        path,
        constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE,
      );
      await syncFile(path);
      await compare(path, report, signal);
      await writeWhole(target, `${report.file}.json`, report);
      copied(report);
    }
    made.push(join(target, MANIFEST));
    await writeWhole(target, MANIFEST, manifest);
  } catch (error) {
    for (const path of made) await rm(path, { force: true });
    throw error;
  }
}

async function compare(path: string, report: BackupReport, signal: AbortSignal): Promise<void> {
  const { size } = await stat(path);
  if (size === report.bytes && (await hashFile(path, signal)) === report.sha256) return;
  await unlink(path);
  throw new StewardError("corrupt", `${path} is not what the daemon copied`, {
    remedy: "check the disk of the target, then try again",
  });
}
