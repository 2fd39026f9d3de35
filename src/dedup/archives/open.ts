/** From a row of the configuration, or a path of the command line, to the archive behind it. */
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Readable } from "node:stream";
import type { LineFields } from "../../../workers/extract/record.ts";
import { assert, StewardError } from "../../kernel/base/errors.ts";
import type { Secret } from "../../kernel/base/secret.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import { PAPERLESS_PAGE_SIZE, PAPERLESS_TIMEOUT_MS } from "../config.ts";
import type { ArchiveConfig } from "../config.ts";
import { createPaperlessArchive } from "../paperless/archive.ts";
import type { PaperlessArchiveOptions } from "../paperless/archive.ts";
import type { PaperlessDeps } from "../paperless/client.ts";
import type { Archive } from "./archive.ts";
import { createFileArchive, createFolderArchive } from "./folder.ts";
import { createJsonlArchive } from "./jsonl.ts";
import type { RecordBytes } from "./jsonl.ts";
import { isJsonLines } from "./peek.ts";
import { systemCode } from "./unreadable.ts";

/** Dependencies of archives of every kind. */
export interface OpenDeps extends PaperlessDeps {
  readonly pool: Pool;
}

/** The archive of a configuration row. Touches nothing yet. */
export function openArchive(deps: OpenDeps, row: ArchiveConfig): Archive {
  const { name, path = "" } = row;
  switch (row.kind) {
    case "folder":
      return createFolderArchive(deps, { ...row, path });
    case "jsonl":
      return createJsonlArchive(deps, {
        name,
        source: { path },
        fields: { id: row.idField, text: row.textField },
      });
    case "paperless":
      return createPaperlessArchive(deps, paperlessOptions(row));
  }
}

function paperlessOptions(row: ArchiveConfig): PaperlessArchiveOptions {
  const { name, url = "", token, username = "", password } = row;
  assert(token !== undefined || password !== undefined, `archive ${name} has a credential`);
  return {
    name,
    url,
    credential: token === undefined ? { username, password: password as Secret } : { token },
    timeoutMs: row.timeoutMs ?? PAPERLESS_TIMEOUT_MS,
    pageSize: row.pageSize ?? PAPERLESS_PAGE_SIZE,
  };
}

/** How paths of the command line are read. */
export interface PathOptions {
  readonly fields?: LineFields;
  /** Of folders. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  /** Receives the bytes of a pipe or a stream, which cannot be read twice. */
  readonly record?: RecordBytes | undefined;
}

/**
 * The archive that a path of the command line means: a folder, JSON Lines, any other single file by
 * its content, or `-` for a stream of JSON Lines. Throws `not_found` when nothing is there.
 */
export async function openPath(
  deps: { readonly pool: Pool },
  path: string,
  input: Readable,
  { fields = {}, include = [], exclude = [], record }: PathOptions = {},
): Promise<Archive> {
  const name = path;
  if (path === "-")
    return createJsonlArchive(deps, { name, source: { stream: input }, fields, record });
  try {
    const facts = await stat(path);
    if (facts.isDirectory())
      return createFolderArchive(deps, { name, path: resolve(path), include, exclude });
    // Bytes of a pipe could not be read a second time.
    if (!facts.isFile())
      return createJsonlArchive(deps, { name, source: { path }, fields, record });
    return (await isJsonLines(path))
      ? createJsonlArchive(deps, { name, source: { path }, fields })
      : createFileArchive(deps, { name, path });
  } catch (error) {
    if (error instanceof StewardError) throw error;
    const code = systemCode(error);
    throw new StewardError(
      code === "ENOENT" ? "not_found" : "upstream",
      `${path} cannot be read: ${code ?? "unknown failure"}`,
      {
        remedy: `give a folder, a file or - for standard input instead of ${basename(path)}`,
        cause: error,
      },
    );
  }
}
