/** The commit that a release is made from, and a clean clone of it. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Commit {
  /** Hexadecimal. */
  readonly hash: string;
  /** Of the commit, in seconds since 1970: the time of all that is made from it. */
  readonly time: number;
}

export interface Source {
  readonly folder: string;
  readonly version: string;
}

/**
 * A clone writes nothing that the user's own settings of git would change. Whoever builds a release
 * of a folder trusts it, whoever it belongs to; that is a setting too.
 */
const environment = {
  ...process.env,
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_CONFIG_COUNT: "1",
  GIT_CONFIG_KEY_0: "safe.directory",
  GIT_CONFIG_VALUE_0: "*",
};

/** The commit of the clone at `root`. Throws when files differ from it or are not part of it. */
export function readCommit(root: string): Commit {
  const changed = git(root, "status", "--porcelain").split("\n").filter(Boolean);
  if (changed.length > 0)
    throw new Error(
      `the tree has changes that are not committed (${changed[0]}${changed.length > 1 ? ` and ${changed.length - 1} more` : ""}): commit them, or run 'git stash -u' first`,
    );
  const [hash = "", time = ""] = git(root, "log", "-1", "--format=%H %ct").trim().split(" ");
  return { hash, time: Number(time) };
}

/** Clones the commit to `folder` and installs the packages of the lock file there. */
export function cloneCommit(root: string, folder: string, { hash }: Commit): Source {
  git(root, "clone", "--quiet", "--shared", "--no-checkout", root, folder);
  git(folder, "checkout", "--quiet", "--detach", hash);
  npm(folder, "ci", "--ignore-scripts");
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    readonly version: string;
  };
  return { folder, version };
}

/** Runs npm without its reports; its standard output. Throws what it said when it fails. */
export function npm(folder: string, ...args: readonly string[]): string {
  return execFileSync(
    "npm",
    [...args, "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"],
    {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: 64 * 2 ** 20,
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
}

function git(folder: string, ...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: folder, encoding: "utf8", env: environment });
}
