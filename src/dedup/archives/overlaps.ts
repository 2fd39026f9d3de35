/**
 * Rows of the configuration that read the same documents. A document that is read twice is a
 * duplicate of itself, and deleting one of the two would delete the only copy. Pure: links between
 * folders are not followed.
 */
import { isAbsolute, relative, resolve, sep } from "node:path";
import type { Complaint } from "../../kernel/config/findings.ts";
import { createGlobs } from "./globs.ts";
import { isLeftOut, versionControlFolders } from "./kinds.ts";

/** Fields of an archive that determine which documents it reads. */
export interface ArchiveRow {
  readonly name: string;
  readonly kind: "folder" | "jsonl" | "paperless";
  readonly path?: string | undefined;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly textField?: string | undefined;
  readonly url?: string | undefined;
}

/** The first two rows that surely read the same documents. */
export function findOverlap(rows: readonly ArchiveRow[]): Complaint | undefined {
  for (const [at, row] of rows.entries())
    for (const earlier of rows.slice(0, at)) {
      const complaint = row.kind === earlier.kind ? compare(earlier, row) : undefined;
      if (complaint !== undefined) return complaint;
    }
  return undefined;
}

function compare(a: ArchiveRow, b: ArchiveRow): Complaint | undefined {
  switch (a.kind) {
    case "paperless":
      return compareServers(a, b);
    case "jsonl":
      return compareFiles(a, b);
    case "folder":
      return compareFolders(a, b) ?? compareFolders(b, a);
  }
}

function compareServers(a: ArchiveRow, b: ArchiveRow): Complaint | undefined {
  if (addressOf(a) !== addressOf(b)) return undefined;
  return {
    rule: `must not read a Paperless-ngx twice, ${a.name} and ${b.name} have the same address`,
    remedy: "list it once, with the token of a user who may view the documents of both.",
  };
}

function addressOf({ url = "" }: ArchiveRow): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, "");
}

/** Two fields of one file may hold two texts. */
function compareFiles(a: ArchiveRow, b: ArchiveRow): Complaint | undefined {
  if (pathOf(a) !== pathOf(b) || a.textField !== b.textField) return undefined;
  return {
    rule: `must not read a file twice, ${a.name} and ${b.name} have the same path`,
    remedy: "remove one of them.",
  };
}

/** A complaint when the outer folder holds the inner one, and no pattern keeps their files apart. */
function compareFolders(outer: ArchiveRow, inner: ArchiveRow): Complaint | undefined {
  const ref = relative(pathOf(outer), pathOf(inner)).split(sep).join("/");
  if (isAbsolute(ref) || ref === ".." || ref.startsWith("../")) return undefined;
  const mayBeDivided =
    outer.include.length > 0 || (outer.exclude.length > 0 && inner.include.length > 0);
  if (mayBeDivided || leavesOut(outer, ref)) return undefined;
  const rule = `must not read a file twice, the folder of ${inner.name} is ${ref === "" ? "" : "in "}that of ${outer.name}`;
  return ref === ""
    ? { rule, remedy: "remove one of them, or divide the files by include and exclude." }
    : { rule, remedy: `remove ${inner.name}, or add "${ref}/**" to exclude of ${outer.name}.` };
}

/** Whether a walk of the folder passes over all that is below this path in it. */
function leavesOut({ exclude }: ArchiveRow, ref: string): boolean {
  if (ref === "") return false;
  const names = ref.split("/");
  if (names.some((name) => isLeftOut(name) || versionControlFolders.has(name))) return true;
  const folders = names.map((_, at) => names.slice(0, at + 1).join("/"));
  try {
    const globs = createGlobs([], exclude);
    return folders.some((folder) => globs.prunes(folder)) || !globs.takes(`${ref}/any`);
  } catch {
    // A pattern that is none is reported when the archive is opened.
    return true;
  }
}

function pathOf({ path = "" }: ArchiveRow): string {
  return resolve(path);
}
