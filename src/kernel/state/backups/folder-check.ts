/**
 * Checks every environment of a folder that no daemon holds, reading only: pages, row counts,
 * checksum of each row, indexes, and the manifest when the folder is a backup.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { errorWithRemedy, StewardError, toStewardError } from "../../base/errors.ts";
import { hashFile } from "./backup.ts";
import { assertUnlocked, lockStateDirectory } from "../folder/directory-lock.ts";
import { MANIFEST, storeNames } from "./folder-backup.ts";
import type { BackupManifest } from "./folder-backup.ts";
import { FORMAT } from "../rows/store-metadata.ts";
import { checkRowCounts, createMetadataReader } from "../rows/metadata-reader.ts";
import { createIndexCheck } from "../writes/index-check.ts";
import { lostStore, lostStores } from "../folder/known-stores.ts";
import type { EnvSpec } from "../types.ts";
import { verifyFile } from "../file/verify-file.ts";

/**
 * `repairable`: the next start repairs it. `damaged`: needs a backup, or another version of
 * Steward.
 */
export type Severity = "sound" | "repairable" | "damaged";

export interface StoreCheck {
  readonly name: string;
  readonly severity: Severity;
  readonly bytes: number;
  readonly schema: number | undefined;
  readonly rows: Readonly<Record<string, number>>;
  /** Problems, one line each. */
  readonly problems: readonly string[];
  /** Remarks that are not problems. */
  readonly notes: readonly string[];
}

export interface FolderCheckOptions {
  readonly directory: string;
  /** The known environments: only their indexes can be compared with the rows. */
  readonly known: readonly Omit<EnvSpec, "directory">[];
  readonly signal: AbortSignal;
  /** Called after each store. */
  readonly checked: (check: StoreCheck) => void;
}

/**
 * Checks all stores. Throws `conflict` when a process holds the folder, `not_found` when it has no
 * stores.
 */
export async function checkFolder({
  directory,
  known,
  signal,
  checked,
}: FolderCheckOptions): Promise<readonly StoreCheck[]> {
  const manifest = readManifest(directory);
  const names = [
    ...new Set([
      ...storeNames(directory),
      ...lostStores(directory),
      ...(manifest?.stores ?? []).map(({ name }) => name),
    ]),
  ].sort();
  if (names.length === 0)
    throw new StewardError("not_found", `${directory} holds no stores`, {
      remedy: "name a state folder or a backup",
    });
  // A backup has no lock, and none is created. A state folder whose lock file was deleted may still
  // be in use.
  const lock = existsSync(join(directory, "lock")) ? lockStateDirectory(directory) : undefined;
  if (lock === undefined) assertUnlocked(directory);
  try {
    const checks: StoreCheck[] = [];
    for (const name of names) {
      signal.throwIfAborted();
      const check = await checkStore(directory, name, {
        spec: known.find((one) => one.name === name),
        manifest,
      });
      checks.push(check);
      checked(check);
    }
    return checks;
  } finally {
    lock?.release();
  }
}

interface Against {
  readonly spec: Omit<EnvSpec, "directory"> | undefined;
  readonly manifest: BackupManifest | undefined;
}

async function checkStore(
  directory: string,
  name: string,
  { spec, manifest }: Against,
): Promise<StoreCheck> {
  const path = join(directory, `${name}.mdb`);
  const metadata = createMetadataReader();
  const problems: string[] = [];
  const notes: string[] = [];
  let schema: number | undefined;
  try {
    const lost = existsSync(path) ? undefined : lostStore(directory, name);
    if (lost !== undefined) throw lost;
    problems.push(...(await manifestProblems(path, name, manifest)));
    const preview = createMetadataReader();
    await verifyFile(path, { depth: "paths", visit: preview.visit });
    const identity = preview.identity(path);
    schema = identity.schema;
    const indexes = createIndexCheck(
      identity.schema === spec?.schema && preview.migration() === undefined ? spec.tables : [],
    );
    const report = await verifyFile(path, {
      visit: (store, key, value) => (
        metadata.visit(store, key, value),
        indexes.visit(store, key, value)
      ),
    });
    checkRowCounts(path, report, metadata);
    problems.push(...indexes.problems());
    if (identity.name !== name) problems.push(`${path} is the store ${identity.name}`);
    if (identity.format > FORMAT || (spec !== undefined && identity.schema > spec.schema))
      problems.push(
        `its schema ${identity.schema} is newer than this Steward reads; run Steward ${identity.writer ?? "(newer)"} or newer`,
      );
    if (!metadata.closed()) notes.push("was not closed cleanly");
    if (spec === undefined)
      notes.push("no store of this Steward; its indexes were not compared with its rows");
    else if (identity.schema < spec.schema || metadata.migration() !== undefined)
      notes.push(`schema ${identity.schema} will be migrated to ${spec.schema} at the next start`);
  } catch (error) {
    problems.push(errorWithRemedy(toStewardError(error)));
  }
  const severity: Severity =
    problems.length === 0 ? "sound" : spec?.derived === true ? "repairable" : "damaged";
  return {
    name,
    severity,
    bytes: statSync(path, { throwIfNoEntry: false })?.size ?? 0,
    schema,
    rows: problems.length === 0 ? Object.fromEntries(metadata.census()) : {},
    problems,
    notes,
  };
}

function readManifest(directory: string): BackupManifest | undefined {
  const path = join(directory, MANIFEST);
  if (!existsSync(path)) return undefined;
  try {
    const manifest = JSON.parse(readFileSync(path, "utf8")) as Partial<BackupManifest>;
    if (manifest.format === 1 && Array.isArray(manifest.stores)) return manifest as BackupManifest;
  } catch {
    // Reported below.
  }
  throw new StewardError("corrupt", `${path} is no manifest of a backup`, {
    remedy: "restore another backup, or remove the file to check only the stores",
  });
}

async function manifestProblems(
  path: string,
  name: string,
  manifest: BackupManifest | undefined,
): Promise<string[]> {
  const listed = manifest?.stores.find((store) => store.name === name);
  if (manifest === undefined) return [];
  if (listed === undefined) return [`${path} is not in the manifest`];
  const sha256 = await hashFile(path);
  return sha256 === listed.sha256
    ? []
    : [
        `${path} is not the file that was backed up: its SHA-256 is ${sha256}, the manifest says ${listed.sha256}`,
      ];
}
