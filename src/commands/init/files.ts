/**
 * Writes a configuration and the files beside it: all of them or none, for their owner only. They
 * are made in a folder beside the place where they belong, so that each appears complete.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Secret } from "../../kernel/base/secret.ts";
import { makeFolder, syncFolder } from "../../kernel/base/system/folder.ts";

interface NewFile {
  readonly name: string;
  readonly content: string | Secret;
}

export interface NewFiles {
  /** The configuration, the last of `files`. The others go into its folder. */
  readonly path: string;
  readonly files: readonly NewFile[];
  /** Throws what is wrong with the configuration at this path, which has the others beside it. */
  readonly validate: (path: string) => void;
  readonly force: boolean;
}

/** Throws `conflict` when one of the files exists, unless forced. */
export function assertFree(path: string, names: readonly string[], force: boolean): void {
  const taken = names.map((name) => join(dirname(path), name)).find(exists);
  if (taken !== undefined && !force) throw conflict(taken);
}

/** Without a pause, so that Ctrl-C comes before or after. Throws what the system says. */
export function writeFiles({ path, files, validate, force }: NewFiles): void {
  const folder = dirname(path);
  const created = missingFolders(folder);
  const placed: string[] = [];
  let draft: string | undefined;
  try {
    makeFolder(folder);
    draft = mkdtempSync(join(folder, ".steward-init-"));
    for (const file of files) writeDurably(join(draft, file.name), file.content);
    validate(join(draft, basename(path)));
    for (const { name } of files) {
      place(join(draft, name), join(folder, name), force);
      if (!force) placed.push(join(folder, name));
    }
    syncFolder(folder);
  } catch (error) {
    for (const each of placed) rmSync(each, { force: true });
    if (draft !== undefined) rmSync(draft, { recursive: true, force: true });
    for (const each of created) rmSync(each, { recursive: true, force: true });
    throw error instanceof StewardError ? error : unwritable(path, error);
  }
  rmSync(draft, { recursive: true, force: true });
}

function writeDurably(path: string, content: string | Secret): void {
  const file = openSync(path, "w", 0o600);
  try {
    if (typeof content === "string") writeFileSync(file, content);
    else content.use((value) => writeFileSync(file, `${value}\n`));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** A link fails where a rename would replace what has appeared there meanwhile. */
function place(from: string, to: string, force: boolean): void {
  if (force) return renameSync(from, to);
  try {
    linkSync(from, to);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === "EEXIST" ? conflict(to) : error;
  }
}

/** The first folder on the way that does not exist: all below it are new. */
function missingFolders(folder: string): readonly string[] {
  if (existsSync(folder)) return [];
  let first = folder;
  while (!existsSync(dirname(first))) first = dirname(first);
  return [first];
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function conflict(path: string): StewardError {
  return new StewardError("conflict", `${path} exists already`, {
    remedy: "name another FILE, or replace it with --force",
  });
}

function unwritable(path: string, error: unknown): StewardError {
  return new StewardError("denied", `${path} cannot be written: ${toStewardError(error).message}`, {
    remedy: "name a FILE in a folder of your own, or run it as another user",
    cause: error,
  });
}
