/**
 * Reads files on the pool: cheap ones together, each costly one alone and within the deadline of its
 * kind, so that a file that hangs or ends its thread costs only itself.
 */
import { resolve } from "node:path";
import { formats } from "../../../workers/extract/formats.ts";
import type { FormatName } from "../../../workers/extract/formats.ts";
import { extractFiles } from "../../../workers/extract/tasks.ts";
import type { ExtractedFile } from "../../../workers/extract/tasks.ts";
import { toStewardError } from "../../kernel/base/errors.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import { TEXT_UNITS } from "../documents/limits.ts";
import type { ArchiveItem, DocumentLocation } from "./archive.ts";
import { failed, refFits } from "./archive.ts";
import { unreadable } from "./unreadable.ts";

/** For a batch of small texts, and for finding out what a file is. */
const BATCH_MS = 30_000;

/** A file and what its document is called. */
export interface FileToRead {
  readonly path: string;
  readonly ref: string;
}

/** How a file ended that its worker could not read. */
interface Failure {
  readonly kind: "failed";
  readonly code: string;
  readonly deadlineMs: number;
}

/**
 * The items of each file, in order: those of its members first, its own last. Throws only the
 * signal's reason.
 */
export async function readFiles(
  pool: Pool,
  files: readonly FileToRead[],
  signal: AbortSignal,
): Promise<ArchiveItem[][]> {
  const paths = files.map(({ path }) => path);
  const together = await runTask(pool, paths, { alone: false, deadlineMs: BATCH_MS }, signal);
  const items: ArchiveItem[][] = [];
  for (const [at, file] of files.entries()) {
    const first =
      together.kind === "done"
        ? together.files[at]
        : await readOne(pool, file.path, { alone: false, deadlineMs: BATCH_MS }, signal);
    const result =
      first?.kind === "costly" ? await readAlone(pool, file, first.format, signal) : first;
    items.push(itemsOf(file, result ?? { kind: "failed", code: "internal", deadlineMs: 0 }));
  }
  return items;
}

function readAlone(
  pool: Pool,
  { path }: FileToRead,
  format: FormatName,
  signal: AbortSignal,
): Promise<ExtractedFile | Failure> {
  const { deadlineMs } = formats[format];
  return readOne(pool, path, { alone: true, deadlineMs }, signal);
}

interface TaskLimits {
  readonly alone: boolean;
  readonly deadlineMs: number;
}

async function readOne(
  pool: Pool,
  path: string,
  limits: TaskLimits,
  signal: AbortSignal,
): Promise<ExtractedFile | Failure> {
  const result = await runTask(pool, [path], limits, signal);
  return result.kind === "failed"
    ? result
    : (result.files[0] ?? { kind: "failed", code: "internal", deadlineMs: limits.deadlineMs });
}

async function runTask(
  pool: Pool,
  paths: readonly string[],
  { alone, deadlineMs }: TaskLimits,
  signal: AbortSignal,
): Promise<{ readonly kind: "done"; readonly files: readonly ExtractedFile[] } | Failure> {
  try {
    const input = { paths, units: TEXT_UNITS, alone };
    const options = { signal, inFlight: 1, tries: 1, deadlineMs } as const;
    for await (const files of pool.map(extractFiles, [input], options))
      return { kind: "done", files };
    return { kind: "failed", code: "internal", deadlineMs };
  } catch (error) {
    signal.throwIfAborted();
    return { kind: "failed", code: toStewardError(error).code, deadlineMs };
  }
}

function itemsOf({ ref, path }: FileToRead, file: ExtractedFile | Failure): ArchiveItem[] {
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
    case "failed":
      return [failureOf(ref, file)];
  }
}

// What failed for want of time or memory may be read on another day: nothing known is forgotten.
function failureOf(ref: string, { code, deadlineMs }: Failure): ArchiveItem {
  if (code === "deadline")
    return failed(ref, "took too long", `was given up after ${deadlineMs / 1000} s`, "below");
  if (code === "exhausted")
    return failed(ref, "too much memory", "needs more memory than a worker thread has", "below");
  return failed(ref, "unreadable", "ended the worker thread that read it", "below");
}

function readItems(
  { ref, path }: FileToRead,
  { facts, items }: Extract<ExtractedFile, { readonly kind: "read" }>,
): ArchiveItem[] {
  const version = items.length > 1 ? versionWithMembers(facts.version) : facts.version;
  return items.map((item): ArchiveItem => {
    const itemRef = item.member === "" ? ref : `${ref}/${item.member}`;
    if (item.kind === "skipped") {
      const { reason, detail, failure } = item;
      return { kind: "skipped", ref: itemRef, reason, detail, failure, hides: "none" };
    }
    if (!refFits(itemRef))
      return failed(itemRef, "path too long", "its path is too long to be stored", "none");
    const { title, text, truncated, createdDate, correspondent, notes } = item;
    return {
      kind: "document",
      ref: itemRef,
      version,
      title,
      text,
      truncated,
      ...(item.beyond !== undefined && { beyond: item.beyond }),
      modifiedDate: facts.modifiedDate,
      ...(createdDate !== undefined && { createdDate }),
      ...(correspondent !== undefined && { correspondent }),
      ...(item.stored === true && { location: wholeFile(path, text, facts.version) }),
      ...(facts.hardLink !== undefined && item.member === "" && { hardLink: facts.hardLink }),
      tags: [],
      notes,
    };
  });
}

function wholeFile(path: string, text: string, version: string): DocumentLocation {
  return { path: resolve(path), offset: 0, length: Buffer.byteLength(text), form: "text", version };
}

/**
 * The version of a file that holds others: when it is known and unchanged, so are the documents
 * below it, although they are not read.
 */
export function versionWithMembers(version: string): string {
  return `${version}:members`;
}
