/**
 * Files that a run writes: checked before anything is read, and written whole or not at all. The
 * pieces go into a file beside the target, which then takes its name.
 */
import { randomBytes } from "node:crypto";
import { createWriteStream } from "node:fs";
import { access, chmod, constants, open, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { finished } from "node:stream/promises";
import { createGlobs } from "../../dedup/archives/globs.ts";
import { StewardError, toStewardError } from "../../kernel/base/errors.ts";
import { writeAll } from "../report/output.ts";
import type { Pieces } from "../report/output.ts";
import type { AnalysisArguments } from "./arguments.ts";

/** A file to write, as the command line names it. */
export interface OutputFile {
  /** With its dashes: `--csv`. */
  readonly option: string;
  readonly path: string;
}

/** Where the pieces go. */
interface Target {
  /** With links followed. */
  readonly path: string;
  /** Permissions of a regular file that is there; undefined where there is none. */
  readonly mode: number | undefined;
  /** A pipe or a device, which is written to and not replaced. */
  readonly special: boolean;
}

/**
 * Throws when a file cannot be written, or would replace a document that is read: before an hour of
 * reading, not after it.
 */
export async function checkOutputFiles(
  files: readonly OutputFile[],
  inputs: Pick<AnalysisArguments, "paths" | "exclude">,
): Promise<void> {
  for (const file of files) {
    const { path, mode, special } = await findTarget(file);
    if (special) continue;
    if (mode !== undefined) await refuseInput(file, path, inputs);
    const folder = dirname(path);
    try {
      // Writing a file, since permissions alone say nothing of a read-only or a full disk.
      const trial = besideOf(path, "trial");
      await (await open(trial, "wx")).close();
      await rm(trial, { force: true });
    } catch (error) {
      throw cannotWrite(file, error, `${folder} cannot be written to`);
    }
  }
}

/**
 * Writes a file whole, replacing the one of that name; the permissions of a replaced file stay.
 * Resolves with false when it is a pipe whose reader went away. Rejects with the signal's reason;
 * whatever fails, the former file is as it was.
 */
export async function writeOutputFile(
  file: OutputFile,
  pieces: Pieces,
  signal: AbortSignal,
): Promise<boolean> {
  const { path, mode, special } = await findTarget(file);
  const written = special ? path : besideOf(path, "part");
  const stream = createWriteStream(written, {
    flags: special ? "w" : "wx",
    ...(!special && { flush: true }),
  });
  try {
    const isWhole = await writeAll(pieces, stream, signal);
    if (special && !isWhole) return false;
    stream.end();
    await finished(stream);
    if (special) return true;
    if (mode !== undefined) await chmod(written, mode);
    await rename(written, path);
    return true;
  } catch (error) {
    stream.destroy();
    if (!special) await rm(written, { force: true });
    if (signal.aborted) throw error;
    if (toStewardError(error).code === "disk_full") throw diskFull(file, error);
    // Of the pieces, such as that a document is gone.
    if (error instanceof StewardError && error.code !== "internal") throw error;
    throw cannotWrite(file, (error as Error).cause ?? error, "writing failed");
  }
}

async function findTarget(file: OutputFile): Promise<Target> {
  const named = resolve(file.path);
  try {
    const facts = await stat(named);
    if (facts.isDirectory())
      throw new StewardError("invalid", `${file.option} ${file.path}: is a folder`, {
        remedy: "give the name of a file",
      });
    // Such as /dev/fd/63 of a shell's >(command), which has no real path.
    if (!facts.isFile()) return { path: named, mode: undefined, special: true };
    await access(named, constants.W_OK);
    return { path: await realpath(named), mode: facts.mode & 0o7777, special: false };
  } catch (error) {
    if (error instanceof StewardError) throw error;
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      throw cannotWrite(file, error, "cannot be written to");
    return { path: join(await realFolder(file), basename(named)), mode: undefined, special: false };
  }
}

async function realFolder(file: OutputFile): Promise<string> {
  const folder = dirname(resolve(file.path));
  try {
    return await realpath(folder);
  } catch (error) {
    throw cannotWrite(file, error, `there is no folder ${folder}`);
  }
}

function cannotWrite(file: OutputFile, error: unknown, what: string): StewardError {
  const { code } = toStewardError(error);
  const system = (error as NodeJS.ErrnoException).code;
  return new StewardError(
    code,
    `${file.option} ${file.path}: ${what}${system === undefined ? "" : ` (${system})`}`,
    { remedy: "give a file in a folder that can be written to", cause: error },
  );
}

function diskFull(file: OutputFile, cause: unknown): StewardError {
  return new StewardError("disk_full", `${file.option} ${file.path}: the disk is full`, {
    remedy: "free space, or give a file on another disk",
    cause,
  });
}

/** A file that is there must be none of those that are read. */
async function refuseInput(
  file: OutputFile,
  target: string,
  { paths, exclude }: Pick<AnalysisArguments, "paths" | "exclude">,
): Promise<void> {
  const globs = createGlobs([], exclude);
  for (const path of paths) {
    if (path === "-") continue;
    const input = await realpath(path).catch(() => resolve(path));
    const below = relative(input, target);
    const isInside = below !== "" && below !== ".." && !below.startsWith(`..${sep}`);
    if (input !== target && (!isInside || isExcluded(below, (ref) => globs.prunes(ref)))) continue;
    throw new StewardError(
      "conflict",
      `${file.option} ${file.path}: would replace a file that is read ${input === target ? "as input" : `below ${path}`}`,
      {
        remedy:
          input === target
            ? "give another name"
            : `give a file elsewhere, or leave this one out with --exclude '${basename(target)}'`,
      },
    );
  }
}

/** A file is left out with a folder above it. */
function isExcluded(below: string, prunes: (ref: string) => boolean): boolean {
  const segments = below.split(sep);
  return segments.some((_, at) => prunes(segments.slice(0, at + 1).join("/")));
}

/** Hidden, so that a run over the same folder does not read it. */
function besideOf(path: string, purpose: string): string {
  return join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}.${purpose}`);
}
