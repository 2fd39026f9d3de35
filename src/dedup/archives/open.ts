/** From a row of the configuration, or a path of the command line, to the archive behind it. */
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Readable } from "node:stream";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import type { ArchiveConfig } from "../config.ts";
import type { Archive } from "./archive.ts";
import { createFileArchive, createFolderArchive } from "./folder.ts";
import { createJsonlArchive } from "./jsonl.ts";
import { isJsonLines } from "./peek.ts";
import type { LineFields } from "./record.ts";
import { systemCode } from "./unreadable.ts";

/** The archive of a configuration row. Touches nothing yet. */
export function openArchive(deps: { readonly pool: Pool }, row: ArchiveConfig): Archive {
  if (row.kind === "folder") return createFolderArchive(deps, row);
  return createJsonlArchive(deps, {
    name: row.name,
    source: { path: row.path },
    fields: { id: row.idField, text: row.textField },
  });
}

/** How paths of the command line are read. */
export interface PathOptions {
  readonly fields?: LineFields;
  /** Of folders. */
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
}

/**
 * The archive that a path of the command line means: a folder, JSON Lines, any other single file by
 * its content, or `-` for a stream of JSON Lines. Throws `not_found` when nothing is there.
 */
export async function openPath(
  deps: { readonly pool: Pool },
  path: string,
  input: Readable,
  { fields = {}, include = [], exclude = [] }: PathOptions = {},
): Promise<Archive> {
  const name = path;
  if (path === "-") return createJsonlArchive(deps, { name, source: { stream: input }, fields });
  try {
    const facts = await stat(path);
    if (facts.isDirectory())
      return createFolderArchive(deps, { name, path: resolve(path), include, exclude });
    // Bytes of a pipe could not be read a second time.
    return facts.isFile() && !(await isJsonLines(path))
      ? createFileArchive(deps, { name, path })
      : createJsonlArchive(deps, { name, source: { path }, fields });
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
