/**
 * What a document is called from one run of the command line to the next: a file by its real path,
 * a line of JSON Lines by the file and its id. So it does not matter how a path was typed.
 */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import type { DocumentSource } from "../corpus.ts";

/** The two parts of a document's name. Both fit an index key. */
export interface DocumentIdentity {
  readonly archive: string;
  readonly ref: string;
}

/** Files that are named by themselves or below a folder. */
const FILES = "";

/** The longest part, in UTF-8; a longer one is replaced by its hash. */
const PART_BYTES = 600;

/** Creates the function that names documents; it looks each PATH up once. */
export function createIdentities(): (source: DocumentSource) => DocumentIdentity {
  const roots = new Map<string, string>();
  const rootOf = (path: string): string => {
    const known = roots.get(path);
    if (known !== undefined) return known;
    const root = path === "-" ? path : realPath(path);
    roots.set(path, root);
    return root;
  };
  return ({ kind, path, ref }) => {
    const root = rootOf(path);
    switch (kind) {
      case "folder":
        return { archive: FILES, ref: fit(join(root, ref)) };
      case "file":
        // The documents within a file are named below it.
        return {
          archive: FILES,
          ref: fit(ref === path ? root : `${root}${ref.slice(path.length)}`),
        };
      default:
        return { archive: fit(root), ref: fit(ref) };
    }
  };
}

/** The path without links. One that is gone by now keeps its name. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

function fit(part: string): string {
  return Buffer.byteLength(part) <= PART_BYTES
    ? part
    : `sha256:${createHash("sha256").update(part).digest("hex")}`;
}

/** The identity as one text, for maps. */
export function identityKey({ archive, ref }: DocumentIdentity): string {
  return `${archive}\0${ref}`;
}
