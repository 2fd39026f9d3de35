/** From a row of the configuration, or a path of the command line, to the archive behind it. */
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import type { Readable } from "node:stream";
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
import { fileType } from "./kinds.ts";
import { systemCode } from "./unreadable.ts";

/** What archives of all kinds need. */
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
      return createJsonlArchive(deps, { name, source: { path } });
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
