/**
 * A folder as an archive: every file below it that holds readable text is a document whose ref is
 * its path. Or one such file alone.
 */
import { access, constants, realpath, stat } from "node:fs/promises";
import { factsOf } from "../../../workers/extract/file-facts.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { Archive, ArchiveBatch, ArchiveItem, ReadOptions } from "./archive.ts";
import { readAlready, readAlreadyBelow } from "./archive.ts";
import type { Claim } from "./claims.ts";
import { fileToClaim, realFileToClaim } from "./claims.ts";
import { createGlobs } from "./globs.ts";
import type { Globs } from "./globs.ts";
import { mapInOrder } from "./ordered.ts";
import { readFiles, versionWithMembers } from "./read-files.ts";
import type { FileToRead } from "./read-files.ts";
import { systemCode, unreadable } from "./unreadable.ts";
import { walk } from "./walk.ts";
import type { Found, FoundFile } from "./walk.ts";

/** Files that are given to the pool together. */
const FILES_OF_A_BATCH = 32;

/** Where the folder is and what of it counts. */
export interface FolderOptions {
  readonly name: string;
  readonly path: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** An archive over a folder. Throws `invalid` when a pattern is none. */
export function createFolderArchive(
  deps: { readonly pool: Pool },
  options: FolderOptions,
): Archive {
  const globs = createGlobs(options.include, options.exclude);
  return {
    name: options.name,
    kind: "folder",
    check: (signal) => checkFolder(options.name, options.path, signal),
    read: (read) => readFolder(deps.pool, options, globs, read),
  };
}

/** An archive of one file, whatever its name; its ref is the path as given. */
export function createFileArchive(
  deps: { readonly pool: Pool },
  options: { readonly name: string; readonly path: string },
): Archive {
  const { name, path } = options;
  return {
    name,
    kind: "file",
    check: () => Promise.resolve(),
    async *read(read) {
      yield await readNamed(deps.pool, { kind: "file", path, ref: path }, read);
    },
  };
}

async function checkFolder(name: string, path: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  try {
    if (!(await stat(path)).isDirectory())
      throw new StewardError("upstream", `archive ${name}: ${path} is no folder`, {
        rule: "ENOTDIR",
        remedy: "give the path of a folder",
      });
    await access(path, constants.R_OK | constants.X_OK);
  } catch (error) {
    throw asArchiveError(name, path, error);
  }
}

/** An archive's own failure with the system's code as its rule. */
export function asArchiveError(name: string, path: string, error: unknown): unknown {
  const code = systemCode(error);
  if (error instanceof StewardError || code === undefined || !/^E[A-Z0-9]+$/.test(code))
    return error;
  return new StewardError("upstream", `archive ${name}: ${path} cannot be read: ${code}`, {
    rule: code,
    remedy: "check the path and its permissions",
    cause: error,
  });
}

async function* readFolder(
  pool: Pool,
  { name, path }: FolderOptions,
  globs: Globs,
  options: ReadOptions,
): AsyncGenerator<ArchiveBatch> {
  await checkFolder(name, path, options.signal);
  const root = await realpath(path);
  const before = await stat(root, { bigint: true });
  try {
    const found = claimed(
      inGroups(walk(root, globs, options.signal), FILES_OF_A_BATCH),
      options.claim,
    );
    // One group more than there are threads, so that none of them waits for this one.
    yield* mapInOrder(found, pool.status().threads + 1, (group) => readGroup(pool, group, options));
    const after = await stat(root, { bigint: true });
    if (after.ino !== before.ino || after.dev !== before.dev)
      throw new StewardError(
        "upstream",
        `archive ${name}: ${path} was replaced while it was read`,
        { remedy: "start the sync again" },
      );
  } catch (error) {
    throw options.signal.aborted ? error : asArchiveError(name, path, error);
  }
}

async function* inGroups<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let group: T[] = [];
  for await (const item of items) {
    group.push(item);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** The groups without the files that were read under another path. */
async function* claimed(
  groups: AsyncIterable<readonly Found[]>,
  claim: Claim | undefined,
): AsyncGenerator<readonly Found[]> {
  for await (const group of groups)
    yield claim === undefined ? group : await claimGroup(group, claim);
}

// Whatever the pool is busy with, the first path of a file in the order of the walk has it.
async function claimGroup(group: readonly Found[], claim: Claim): Promise<Found[]> {
  const files = await Promise.all(
    group.map(async ({ found }) =>
      found.kind === "file" ? await realFileToClaim(found.path) : undefined,
    ),
  );
  return group.map((each, at) => {
    const file = files[at];
    return file === undefined || claim(file)
      ? each
      : { ...each, found: readAlreadyBelow(each.found.ref) };
  });
}

async function readGroup(
  pool: Pool,
  group: readonly Found[],
  options: ReadOptions,
): Promise<ArchiveBatch> {
  // What is settled without reading; a file without an entry is read.
  const settled = await Promise.all(group.map(({ found }) => settle(found, options)));
  const unread: FileToRead[] = group.flatMap(({ found }, at) =>
    settled[at] === undefined && found.kind === "file" ? [found] : [],
  );
  const read =
    unread.length === 0 ? { items: [], blocks: [] } : await readFiles(pool, unread, options);
  let next = 0;
  return {
    items: settled.flatMap((item) => (item === undefined ? (read.items[next++] ?? []) : [item])),
    blocks: read.blocks,
    fraction: Math.max(...group.map(({ fraction }) => fraction)),
  };
}

async function settle(
  found: Found["found"],
  options: ReadOptions,
): Promise<ArchiveItem | undefined> {
  return found.kind === "file" ? await settleKnown(found, options) : found;
}

// Undefined for a file that is to be read.
async function settleKnown(
  { path, ref }: FoundFile,
  { known, force, signal }: ReadOptions,
): Promise<ArchiveItem | undefined> {
  if (force) return undefined;
  try {
    const { version } = factsOf(await stat(path, { bigint: true }));
    if (known(ref, version)) return { kind: "unchanged", ref };
    return known(ref, versionWithMembers(version))
      ? { kind: "unchanged", ref, below: true }
      : undefined;
  } catch (error) {
    if (signal.aborted) throw error;
    return unreadable(ref, error, "below");
  }
}

async function readNamed(pool: Pool, file: FoundFile, options: ReadOptions): Promise<ArchiveBatch> {
  const settled = await settleNamed(file, options);
  if (settled !== undefined) return { items: [settled], fraction: 1 };
  const { items, blocks } = await readFiles(pool, [file], options);
  // It was asked for, so whatever was not read is worth a word.
  const worded = items
    .flat()
    .map((item) => (item.kind === "skipped" ? { ...item, failure: true } : item));
  return { items: worded, blocks, fraction: 1 };
}

async function settleNamed(
  file: FoundFile,
  options: ReadOptions,
): Promise<ArchiveItem | undefined> {
  return options.claim?.(await fileToClaim(file.path)) === false
    ? readAlready(file.ref)
    : await settleKnown(file, options);
}
