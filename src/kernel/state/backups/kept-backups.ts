/**
 * Lists and prunes the backups in a folder, each a subfolder named after its time; complete ones
 * have a manifest.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isDatedAhead } from "./backup-times.ts";
import { MANIFEST } from "./folder-backup.ts";
import type { BackupManifest } from "./folder-backup.ts";

const NAME = /^steward-\d{8}T\d{6}Z$/;

export interface KeptBackup {
  readonly name: string;
  readonly madeAtMs: number;
}

export function backupName(atMs: number): string {
  return `steward-${new Date(atMs).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
}

/** Complete backups, newest first; other files are ignored. */
export function keptBackups(directory: string): KeptBackup[] {
  const kept = names(directory).flatMap((name) => {
    const madeAtMs = timeOf(join(directory, name, MANIFEST));
    return madeAtMs === undefined ? [] : [{ name, madeAtMs }];
  });
  return kept.sort((left, right) => right.madeAtMs - left.madeAtMs);
}

/** Removes interrupted backups; no backup may be running. */
export async function removeIncomplete(directory: string): Promise<void> {
  for (const name of names(directory))
    if (!existsSync(join(directory, name, MANIFEST)))
      await rm(join(directory, name), { recursive: true, force: true });
}

/**
 * Keeps this one and the newest others, `keep` in all; returns the names removed. Backups dated
 * after `nowMs` count as the oldest, so that they do not displace new ones.
 */
export async function removeOldest(
  directory: string,
  { keep, fresh, nowMs }: { readonly keep: number; readonly fresh: string; readonly nowMs: number },
): Promise<string[]> {
  const others = keptBackups(directory).filter(({ name }) => name !== fresh);
  const old = [
    ...others.filter(({ madeAtMs }) => !isDatedAhead(madeAtMs, nowMs)),
    ...others.filter(({ madeAtMs }) => isDatedAhead(madeAtMs, nowMs)),
  ].slice(keep - 1);
  for (const { name } of old) {
    await rm(join(directory, name, MANIFEST), { force: true }); // half taken away, it must not look complete
    await rm(join(directory, name), { recursive: true, force: true });
  }
  return old.map(({ name }) => name);
}

function names(directory: string): string[] {
  return existsSync(directory) ? readdirSync(directory).filter((name) => NAME.test(name)) : [];
}

function timeOf(manifest: string): number | undefined {
  try {
    const { madeAtMs } = JSON.parse(readFileSync(manifest, "utf8")) as Partial<BackupManifest>;
    return typeof madeAtMs === "number" ? madeAtMs : undefined;
  } catch {
    return undefined; // none, or no manifest: not complete
  }
}
