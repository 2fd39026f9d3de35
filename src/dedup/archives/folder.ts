/**
 * A folder as an archive: every text, Markdown and HTML file below it is a document whose ref is
 * its path. Or one such file alone.
 */
import { createHash } from "node:crypto";
import { access, constants, realpath, stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import { TEXT_UNITS } from "../documents/limits.ts";
import type { Archive, ArchiveBatch, ArchiveItem, ReadOptions } from "./archive.ts";
import { failed, passedOver, readAlready, readAlreadyBelow } from "./archive.ts";
import { inBatches } from "./batches.ts";
import type { PositionedItem } from "./batches.ts";
import { cutText, decodeText } from "./decode.ts";
import { createGlobs } from "./globs.ts";
import type { Globs } from "./globs.ts";
import { convertHtml } from "./html.ts";
import type { HtmlDocument } from "./html.ts";
import type { FileType } from "./kinds.ts";
import { mapInOrder } from "./ordered.ts";
import { readFileHead, statFile } from "./read-file.ts";
import type { FileHead } from "./read-file.ts";
import { cleanTitle, headingOf } from "./titles.ts";
import { systemCode, unreadable } from "./unreadable.ts";
import { walk } from "./walk.ts";
import type { Found, FoundFile } from "./walk.ts";

/** Four bytes are the most a unit that is kept can take, and a byte order mark. */
const TEXT_BYTES = 4 * TEXT_UNITS + 4;
/** Markup is more than its text, but not without bound. */
const HTML_BYTES = 4 * 1024 * 1024;
const FILES_AT_ONCE = 8;

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

/**
 * An archive of one file that is a document by its name (`fileType`); its ref is the path as given.
 */
export function createFileArchive(
  deps: { readonly pool: Pool },
  options: { readonly name: string; readonly path: string; readonly type: FileType },
): Archive {
  const { name, path, type } = options;
  return {
    name,
    kind: "file",
    check: () => Promise.resolve(),
    async *read(read) {
      const item = await readNamed({ kind: "file", path, ref: path, type }, read);
      yield { items: await convertHtml([item], deps.pool, read.signal), fraction: 1 };
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
  const before = await stat(root);
  try {
    const items = mapInOrder(walk(root, globs, options.signal), FILES_AT_ONCE, (found) =>
      readFound(found, options),
    );
    for await (const batch of inBatches(items))
      yield { ...batch, items: await convertHtml(batch.items, pool, options.signal) };
    const after = await stat(root);
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

async function readFound(
  { found, fraction }: Found,
  options: ReadOptions,
): Promise<PositionedItem> {
  if (found.kind !== "file") return { item: found, fraction };
  // The walk gives real paths.
  if (options.claim?.(found.path) === false) return { item: readAlreadyBelow(found.ref), fraction };
  return { item: await readDocument(found, options), fraction };
}

async function readNamed(
  file: FoundFile,
  options: ReadOptions,
): Promise<ArchiveItem | HtmlDocument> {
  try {
    if (options.claim?.(await realpath(file.path)) === false) return readAlready(file.ref);
  } catch (error) {
    return unreadable(file.ref, error, "itself");
  }
  return await readDocument(file, options);
}

async function readDocument(
  file: FoundFile,
  { known, force, signal }: ReadOptions,
): Promise<ArchiveItem | HtmlDocument> {
  try {
    const { version } = await statFile(file.path);
    if (!force && known(file.ref, version)) return { kind: "unchanged", ref: file.ref };
    const keepBytes = file.type.kind === "html" ? HTML_BYTES : TEXT_BYTES;
    const head = await readFileHead(file.path, {
      ref: file.ref,
      gzip: file.type.gzip,
      keepBytes,
      signal,
    });
    if (head.kind === "head") return asDocument(file, head);
    // Without an extension, a large file is more likely a program than a text.
    return file.type.kind === "plain" && head.reason === "too large"
      ? { ...head, failure: false }
      : head;
  } catch (error) {
    if (signal.aborted) throw error;
    return unreadable(file.ref, error, "itself");
  }
}

function asDocument({ ref, type, path }: FoundFile, head: FileHead): ArchiveItem | HtmlDocument {
  const decoded = decodeText(head.bytes, head.whole);
  if ("notText" in decoded)
    return type.kind === "plain"
      ? passedOver(ref, "not text", decoded.notText)
      : failed(ref, "not text", decoded.notText, "none");
  const { text, note } = decoded;
  const stem = cleanTitle(type.stem) || basename(ref);
  const shared = {
    kind: "document" as const,
    ref,
    version: head.facts.version,
    modifiedDate: head.facts.modifiedDate,
    ...beyondOf(head, text),
    tags: [],
    notes: note === undefined ? [] : [note],
  };
  if (type.kind === "html") {
    const notes = head.whole ? shared.notes : [...shared.notes, "read up to 4 MiB of its HTML"];
    return { ...shared, notes, title: stem, text, html: true };
  }
  const title = type.kind === "markdown" ? (headingOf(text) ?? stem) : stem;
  // UTF-8 to the last byte, without a byte order mark.
  const plain = head.whole && !type.gzip && Buffer.byteLength(text) === head.bytes.byteLength;
  const location = {
    path: resolve(path),
    offset: 0,
    length: head.bytes.byteLength,
    form: "text" as const,
    version: head.facts.version,
  };
  return {
    ...shared,
    title,
    // One unit more than is kept, so that truncation can be detected.
    text: cutText(text, TEXT_UNITS + 2),
    ...(plain && { location }),
  };
}

/** What tells a document that is longer than its text from others with the same beginning. */
function beyondOf({ bytes, whole, beyond }: FileHead, text: string): { beyond?: string } {
  if (whole && text.length <= TEXT_UNITS) return {};
  return { beyond: createHash("sha256").update(bytes).update(beyond).digest("hex") };
}
