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
import { fileType } from "./kinds.ts";
import { systemCode } from "./unreadable.ts";

/** The archive of a configuration row. Touches nothing yet. */
export function openArchive(deps: { readonly pool: Pool }, row: ArchiveConfig): Archive {
  if (row.kind === "folder") return createFolderArchive(deps, row);
  return createJsonlArchive(deps, { name: row.name, source: { path: row.path } });
}

/**
 * The archive that a path of the command line means: a folder, a single text, Markdown or HTML
 * file, a JSON Lines file under any other name, or `-` for a stream of JSON Lines. Throws
 * `not_found` when nothing is there.
 */
export async function openPath(
  deps: { readonly pool: Pool },
  path: string,
  input: Readable,
  name: string = path,
): Promise<Archive> {
  if (path === "-") return createJsonlArchive(deps, { name, source: { stream: input } });
  try {
    const facts = await stat(path);
    if (facts.isDirectory())
      return createFolderArchive(deps, { name, path: resolve(path), include: [], exclude: [] });
    const type = facts.isFile() ? fileType(basename(path)) : undefined;
    return type === undefined
      ? createJsonlArchive(deps, { name, source: { path } })
      : createFileArchive(deps, { name, path, type });
  } catch (error) {
    const code = systemCode(error);
    throw new StewardError(
      code === "ENOENT" ? "not_found" : "upstream",
      `${path} cannot be read: ${code ?? "unknown failure"}`,
      {
        remedy: `give a folder, a JSON Lines file or - for standard input instead of ${basename(path)}`,
        cause: error,
      },
    );
  }
}
