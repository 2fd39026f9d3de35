/** The tree of a release for one architecture: what `npm run build` makes, with the packages and the Node of that machine. */
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { BuildInfo } from "../../src/tokens/engine/types.ts";
import { stripNode } from "../build/archive.ts";
import { UNBUNDLED } from "../build/bundle.ts";
import { copyNode, copyPackages } from "../build/packages.ts";
import { npm, type Commit, type Source } from "./source.ts";

export const ARCHITECTURES = ["x64", "arm64"] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

/**
 * Makes `STAGING/ARCHITECTURE/steward-VERSION`; its path. Any machine makes the tree of each
 * architecture: nothing in it is compiled here.
 */
export async function makeTree(
  source: Source,
  architecture: Architecture,
  staging: string,
  commit: Commit,
): Promise<string> {
  const folder = join(staging, architecture);
  const tree = join(folder, `steward-${source.version}`);
  mkdirSync(folder);
  buildOnce(source);
  const packages = installPackages(source, architecture, folder);
  cpSync(join(source.folder, "dist"), tree, { recursive: true });
  rmSync(join(tree, "node_modules"), { recursive: true });
  copyPackages(packages, tree, UNBUNDLED);
  copyNode(packages, tree);
  stripNode(tree, architecture);
  writeManifest(tree, source, commit);
  rmSync(packages, { recursive: true });
  setModes(tree);
  return tree;
}

/** In the clone, with its Node and its packages. */
function buildOnce({ folder }: Source): void {
  if (readdirSync(folder).includes("dist")) return;
  execFileSync("bin/node", ["--disable-warning=ExperimentalWarning", "tools/build.ts"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
}

/** The packages of the lock file for a machine with glibc, and LMDB's addon as Steward runs it. */
function installPackages({ folder }: Source, architecture: Architecture, target: string): string {
  const packages = join(target, "packages");
  mkdirSync(packages);
  for (const name of ["package.json", "package-lock.json"])
    cpSync(join(folder, name), join(packages, name));
  const machine = ["--os=linux", `--cpu=${architecture}`, "--libc=glibc"];
  npm(packages, "ci", "--ignore-scripts", "--omit=dev", ...machine);
  execFileSync(
    join(folder, "bin/node"),
    [
      "--disable-warning=ExperimentalWarning",
      join(folder, "tools/lmdb-addon.ts"),
      `--packages=${join(packages, "node_modules")}`,
      `--architecture=${architecture}`,
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  return packages;
}

/** The build information that only a release has: `releaseInfo` of `src/daemon/version.ts`. */
export function buildInfoOf({ version }: Source, { hash, time }: Commit): BuildInfo {
  return {
    projectName: "steward",
    projectDocs: "docs/README.md",
    version,
    revision: hash,
    // A commit can be on many branches: what git says of a clone without one.
    branch: "HEAD",
    date: new Date(time * 1000).toISOString(),
    user: "release@steward",
  };
}

function writeManifest(tree: string, source: Source, commit: Commit): void {
  const release = buildInfoOf(source, commit);
  const file = join(tree, "package.json");
  const manifest = JSON.parse(readFileSync(file, "utf8")) as object;
  writeFileSync(file, `${JSON.stringify({ ...manifest, release }, undefined, 2)}\n`);
}

/** Makes everything in `folder` readable for all and writable for the owner, whatever the umask was. */
export function setModes(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, entry);
    const status = statSync(path);
    chmodSync(path, status.isDirectory() || (status.mode & 0o100) !== 0 ? 0o755 : 0o644);
  }
}
