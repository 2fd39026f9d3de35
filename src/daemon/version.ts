/** Version and build information. */
import { readFileSync, statSync } from "node:fs";
import { type as systemType, machine, release } from "node:os";
import { join, resolve } from "node:path";
import type { BuildInfo } from "../tokens/engine/types.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The version, e.g. `0.1.0`. `-version` prints exactly this, for tools that compare versions. */
export function stewardVersion(): string {
  return manifest().version;
}

/** Version, commit, Node and system, one per line, for bug reports. */
export function versionReport(): string {
  const commit = manifest().gitHead ?? commitOf(ROOT) ?? "unknown (not a clone)";
  return `steward ${stewardVersion()}\ncommit  ${commit}\nnode    ${process.versions.node}\nsystem  ${systemType()} ${release()} ${machine()}\n`;
}

/** What `npm run release` wrote into the tree; undefined in a clone and in a tree of one's own. */
export function releaseInfo(): BuildInfo | undefined {
  return manifest().release;
}

/** A built tree records its commit in `gitHead`, as npm does. */
function manifest(): {
  readonly version: string;
  readonly gitHead?: string;
  readonly release?: BuildInfo;
} {
  return JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as ReturnType<
    typeof manifest
  >;
}

/** The commit of the clone at `root`, read without git; undefined if there is none. */
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

/** `.git` is a directory, or in a linked worktree a file that names one. */
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
 * A branch is a loose file or a line of `packed-refs`. A linked worktree keeps both in the main
 * worktree's directory.
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
