/**
 * Writes a configuration and the files beside it: all of them or none, for their owner only. They
 * are made in a folder beside the place where they belong, so that each appears complete.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import type { Secret } from "../../kernel/base/secret.ts";
import { makeFolder, syncFolder } from "../../kernel/base/system/folder.ts";

const DRAFT = ".steward-init-";
/** `mkdtemp` adds six characters. */
const DRAFTS = /^\.steward-init-[A-Za-z0-9]{6}$/;
/** Of a link, where the file system has none. */
const NO_LINKS: ReadonlySet<string> = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"]);

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

/**
 * Throws what keeps files from being written beside this path, and removes what a killed init of
 * this user has left there: its folder has secrets.
 */
export function prepareFolder(path: string): void {
  const folder = dirname(path);
  try {
    accessSync(join(existingParent(folder), "."), constants.W_OK | constants.X_OK);
    for (const name of namesIn(folder).filter((each) => DRAFTS.test(each))) {
      const draft = lstatSync(join(folder, name));
      if (draft.isDirectory() && draft.uid === process.geteuid?.())
        rmSync(join(folder, name), { recursive: true });
    }
  } catch (error) {
    throw unwritable(path, error);
  }
}

/** The path of the file with this name beside `path`, if there is one. */
export function existingFile(path: string, name: string): string | undefined {
  const beside = join(dirname(path), name);
  return exists(beside) ? beside : undefined;
}

/** Throws `conflict` when one of the files exists, unless forced. */
export function assertFree(path: string, names: readonly string[], force: boolean): void {
  const [taken] = names.flatMap((name) => existingFile(path, name) ?? []);
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
    draft = mkdtempSync(join(folder, DRAFT));
    for (const file of files) writeDurably(join(draft, file.name), file.content);
    validate(join(draft, basename(path)));
    for (const { name, content } of files) {
      const to = join(folder, name);
      if (force) renameSync(join(draft, name), to);
      else {
        placeNew(join(draft, name), to, content);
        placed.push(to);
      }
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

/** Throws `EEXIST` for a file that exists. */
function writeDurably(path: string, content: string | Secret): void {
  const file = openSync(path, "wx", 0o600);
  try {
    if (typeof content === "string") writeFileSync(file, content);
    else content.use((value) => writeFileSync(file, `${value}\n`));
    fsyncSync(file);
  } catch (error) {
    rmSync(path);
    throw error;
  } finally {
    closeSync(file);
  }
}

/** A link fails where a rename would replace what has appeared there meanwhile. */
function placeNew(from: string, to: string, content: string | Secret): void {
  try {
    try {
      linkSync(from, to);
    } catch (error) {
      if (!NO_LINKS.has(codeOf(error))) throw error;
      writeDurably(to, content);
    }
  } catch (error) {
    throw codeOf(error) === "EEXIST" ? conflict(to) : error;
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "";
}

/** The first folder on the way that does not exist: all below it are new. */
function missingFolders(folder: string): readonly string[] {
  if (existsSync(folder)) return [];
  let first = folder;
  while (!existsSync(dirname(first))) first = dirname(first);
  return [first];
}

function existingParent(folder: string): string {
  return existsSync(folder) ? folder : existingParent(dirname(folder));
}

/** Empty for a folder that is missing or not to be listed. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
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
