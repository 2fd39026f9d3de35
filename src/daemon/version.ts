/** Which Steward this is. */
import { readFileSync, statSync } from "node:fs";
import { type as systemType, machine, release } from "node:os";
import { join, resolve } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/**
 * The version of this Steward, e.g. `0.1.0`, which is all that `-version` prints: what compares
 * versions reads it as it is.
 */
export function stewardVersion(): string {
  return manifest().version;
}

/** What a report of a fault should begin with: version, commit, Node and system, one a line. */
export function versionReport(): string {
  const commit = manifest().gitHead ?? commitOf(ROOT) ?? "unknown (not a clone)";
  return `steward ${stewardVersion()}\ncommit  ${commit}\nnode    ${process.versions.node}\nsystem  ${systemType()} ${release()} ${machine()}\n`;
}

/** A built tree names its commit as packages do. */
function manifest(): { readonly version: string; readonly gitHead?: string } {
  return JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as ReturnType<
    typeof manifest
  >;
}

/** The commit of the clone at `root`, read without git; undefined where there is none. */
export function commitOf(root: string): string | undefined {
  try {
    const folder = gitFolder(root);
    const head = readFileSync(join(folder, "HEAD"), "utf8").trim();
    const [, branch] = /^ref: (\S+)$/.exec(head) ?? [];
    return branch === undefined ? hash(head) : readBranch(folder, branch);
  } catch {
    return undefined;
  }
}

/** `.git` is a folder, or in a linked worktree a file that names one. */
function gitFolder(root: string): string {
  const path = join(root, ".git");
  return statSync(path).isDirectory()
    ? path
    : resolve(
        root,
        readFileSync(path, "utf8")
          .replace(/^gitdir: /, "")
          .trim(),
      );
}

/**
 * A branch is a file, or a line among the packed ones. Of a linked worktree both lie in the folder
 * of the main one.
 */
function readBranch(folder: string, branch: string): string | undefined {
  const common = resolve(folder, readIfThere(join(folder, "commondir"))?.trim() ?? ".");
  const own = readIfThere(join(common, branch))?.trim();
  if (own !== undefined) return hash(own);
  const packed = readIfThere(join(common, "packed-refs"))
    ?.split("\n")
    .find((line) => line.endsWith(` ${branch}`));
  return hash(packed?.split(" ")[0] ?? "");
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function hash(text: string): string | undefined {
  return /^[0-9a-f]{40,64}$/.test(text) ? text : undefined;
}
