/**
 * Reads files on the pool: cheap ones together, each costly one alone, in a process and within the
 * deadline of its kind, so that a file that hangs or ends its worker costs only itself.
 */
import { resolve } from "node:path";
import { formats } from "../../../workers/extract/formats.ts";
import type { FormatName } from "../../../workers/extract/formats.ts";
import { refFits } from "../../../workers/extract/refs.ts";
import { extractFiles } from "../../../workers/extract/tasks.ts";
import type { ExtractedFile, ExtractInput, ExtractOutput } from "../../../workers/extract/tasks.ts";
import type { DigestedTexts } from "../../../workers/text/digester.ts";
import { toStewardError } from "../../kernel/base/errors.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { ArchiveItem, DocumentLocation, ReadOptions } from "./archive.ts";
import { failed } from "./archive.ts";
import { withDigest } from "./digests.ts";
import { unreadable } from "./unreadable.ts";

/** For a batch of small texts, and for finding out what a file is. */
const BATCH_MS = 30_000;

/** A file and what its document is called. */
export interface FileToRead {
  readonly path: string;
  readonly ref: string;
}

/** What became of files. */
export interface FilesRead {
  /** Of each file: those of its members first, its own last. */
  readonly items: readonly (readonly ArchiveItem[])[];
  /** The signatures of the texts, when they were wanted. */
  readonly blocks: readonly ArrayBuffer[];
}

/** How a file ended that its worker could not read. */
interface Failure {
  readonly kind: "failed";
  readonly code: string;
  readonly deadlineMs: number;
}

/** Reads files, in order. Throws only the signal's reason. */
export async function readFiles(
  pool: Pool,
  files: readonly FileToRead[],
  options: Pick<ReadOptions, "signal" | "digest">,
): Promise<FilesRead> {
  const blocks: ArrayBuffer[] = [];
  const deps = { pool, blocks, ...options };
  const paths = files.map(({ path }) => path);
  const together = await runTask(deps, paths, { alone: false, deadlineMs: BATCH_MS });
  const items: ArchiveItem[][] = [];
  for (const [at, file] of files.entries()) {
    const first =
      together.kind === "done"
        ? together.files[at]
        : await readOne(deps, file.path, { alone: false, deadlineMs: BATCH_MS });
    const result = first?.kind === "costly" ? await readAlone(deps, file, first.format) : first;
    items.push(itemsOf(file, result ?? { kind: "failed", code: "internal", deadlineMs: 0 }));
  }
  return { items, blocks };
}

/** What the tasks of one call share. */
interface TaskDeps extends Pick<ReadOptions, "signal" | "digest"> {
  readonly pool: Pool;
  /** Takes the signatures. */
  readonly blocks: ArrayBuffer[];
}

async function readAlone(
  deps: TaskDeps,
  { path }: FileToRead,
  format: FormatName,
): Promise<ReadFile | Failure> {
  const { deadlineMs, holdsFiles } = formats[format];
  const limits = { alone: true, deadlineMs };
  const whole = await readOne(deps, path, limits);
  if (whole.kind !== "failed" || holdsFiles !== true || whole.code === "not_ready") return whole;
  const own = await readOne(deps, path, { ...limits, leaveOut: leftOut(whole) });
  return own.kind === "failed" ? whole : own;
}

interface TaskLimits extends Pick<ExtractInput, "alone" | "leaveOut"> {
  readonly deadlineMs: number;
}

async function readOne(
  deps: TaskDeps,
  path: string,
  limits: TaskLimits,
): Promise<ReadFile | Failure> {
  const result = await runTask(deps, [path], limits);
  return result.kind === "failed"
    ? result
    : (result.files[0] ?? { kind: "failed", code: "internal", deadlineMs: limits.deadlineMs });
}

/** A file with where its digests begin among those of its task. */
type ReadFile =
  | Exclude<ExtractedFile, { readonly kind: "read" }>
  | (Extract<ExtractedFile, { readonly kind: "read" }> & {
      readonly digests: DigestedTexts;
      readonly firstDigest: number;
      /** Files within were not read. */
      readonly lacksMembers: boolean;
    });

async function runTask(
  { pool, digest, signal, blocks }: TaskDeps,
  paths: readonly string[],
  { deadlineMs, ...limits }: TaskLimits,
): Promise<{ readonly kind: "done"; readonly files: readonly ReadFile[] } | Failure> {
  try {
    const ownProcess = limits.alone;
    const options = { signal, inFlight: 1, tries: 1, ownProcess, deadlineMs } as const;
    for await (const output of pool.map(extractFiles, [{ paths, digest, ...limits }], options)) {
      if (output.digests.block) blocks.push(output.digests.block);
      return { kind: "done", files: withDigests(output, limits.leaveOut !== undefined) };
    }
    return { kind: "failed", code: "internal", deadlineMs };
  } catch (error) {
    signal.throwIfAborted();
    return { kind: "failed", code: toStewardError(error).code, deadlineMs };
  }
}

function withDigests({ files, digests }: ExtractOutput, leavesOut: boolean): ReadFile[] {
  let firstDigest = 0;
  return files.map((file) => {
    if (file.kind !== "read") return file;
    const lacksMembers = leavesOut && file.items.length > 1;
    const read = { ...file, digests, firstDigest, lacksMembers };
    firstDigest += file.items.filter(({ kind }) => kind === "text").length;
    return read;
  });
}

function itemsOf({ ref, path }: FileToRead, file: ReadFile | Failure): ArchiveItem[] {
  switch (file.kind) {
    case "read":
      return readItems({ ref, path }, file);
    case "changed":
      return [
        failed(ref, "changed", "changed while it was read; the next sync reads it again", "below"),
      ];
    case "unreadable":
      return [unreadable(ref, Object.assign(new Error(file.code), { code: file.code }), "below")];
    case "costly":
      return [failed(ref, "unreadable", "could not be read by itself", "below")];
    case "failed": {
      const { reason, detail } = failureOf(file.code, file.deadlineMs);
      // What failed for want of time or memory may be read on another day: nothing known is
      // forgotten.
      return [failed(ref, reason, detail, "below")];
    }
  }
}

/** What to say of each file within one that can be read only without them. */
function leftOut({ code, deadlineMs }: Failure): ExtractInput["leaveOut"] {
  const { reason } = failureOf(code, deadlineMs);
  let why = "ended the worker that read them";
  if (code === "deadline") why = `took longer than ${deadlineMs / 1000} s`;
  if (code === "exhausted") why = "need more memory than one file may take";
  return { reason, detail: `was left out: its file and those within it ${why}` };
}

/** What to say of what a worker could not read, by the code that its task ended with. */
export function failureOf(
  code: string,
  deadlineMs: number,
): { readonly reason: string; readonly detail: string } {
  if (code === "deadline")
    return { reason: "took too long", detail: `was given up after ${deadlineMs / 1000} s` };
  if (code === "exhausted")
    return { reason: "too much memory", detail: "needs more memory than one file may take" };
  if (code === "not_ready")
    return { reason: "no process", detail: "was not read: no process could be started for it" };
  return { reason: "unreadable", detail: "ended the worker that read it" };
}

function readItems(
  { ref, path }: FileToRead,
  {
    facts,
    items,
    digests,
    firstDigest,
    lacksMembers,
  }: Extract<ReadFile, { readonly kind: "read" }>,
): ArchiveItem[] {
  const sharesFile = items.length > 1;
  const versionOf = lacksMembers ? versionLackingMembers : versionWithMembers;
  const version = sharesFile ? versionOf(facts.version) : facts.version;
  let next = firstDigest;
  return items.map((item): ArchiveItem => {
    const itemRef = item.member === "" ? ref : `${ref}/${item.member}`;
    if (item.kind === "skipped") {
      const { reason, detail, failure } = item;
      const hides = lacksMembers ? "below" : "none";
      return { kind: "skipped", ref: itemRef, reason, detail, failure, hides };
    }
    const at = next++;
    if (!refFits(itemRef))
      return failed(itemRef, "path too long", "its path is too long to be stored", "none");
    const { title, truncated, storedBytes, createdDate, correspondent, notes } = item;
    const document = {
      ref: itemRef,
      version,
      title,
      truncated,
      modifiedDate: facts.modifiedDate,
      ...(sharesFile && { sharesFile }),
      ...(createdDate !== undefined && { createdDate }),
      ...(correspondent !== undefined && { correspondent }),
      ...(storedBytes !== undefined && { location: wholeFile(path, storedBytes, facts.version) }),
      ...(facts.hardLink !== undefined && item.member === "" && { hardLink: facts.hardLink }),
      tags: [],
      notes,
    };
    return withDigest(document, digests, at);
  });
}

function wholeFile(path: string, length: number, version: string): DocumentLocation {
  return { path: resolve(path), offset: 0, length, form: "text", version };
}

/**
 * The version of a file that holds others: when it is known and unchanged, so are the documents
 * below it, although they are not read.
 */
export function versionWithMembers(version: string): string {
  return `${version}:members`;
}

/** The version of a file whose members were left out: never a known one, so it is read again. */
export function versionLackingMembers(version: string): string {
  return `${version}:lacks-members`;
}
