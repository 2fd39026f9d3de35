/**
 * `npm run build`: makes `dist/`, which runs Steward without its sources: `dist/bin/steward`. The
 * tree needs nothing outside of it and may be copied. It is made beside the old one and renamed, so
 * that a daemon that starts meanwhile finds a whole one. With `-- --archive` it is packed as well.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { commitOf } from "../src/daemon/version.ts";
import { packTree } from "./build/archive.ts";
import { bundleSources, UNBUNDLED } from "./build/bundle.ts";
import { licenceText } from "./build/licences.ts";
import { copyNode, copyPackages } from "./build/packages.ts";

const root = join(import.meta.dirname, "..");
const target = join(root, "dist");
const made = `${target}.${process.pid}`;

mkdirSync(made);
try {
  await build();
  if (existsSync(target)) renameSync(target, `${made}-old`);
  renameSync(made, target);
} finally {
  for (const folder of [made, `${made}-old`]) rmSync(folder, { recursive: true, force: true });
}
if (process.argv.includes("--archive")) process.stdout.write(`${packTree(target, root)}\n`);

async function build(): Promise<void> {
  // The addon that the tree carries, also where nobody ran `npm run prepare`.
  execFileSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "tools/lmdb-addon.ts", "--if-missing"],
    { cwd: root, stdio: "inherit" },
  );
  const modules = await bundleSources(root, made);
  copyPackages(root, made, UNBUNDLED);
  copyNode(root, made);
  for (const path of ["bin", "LICENSE", "README.md", "CHANGELOG.md", "docs", "deploy"])
    cpSync(join(root, path), join(made, path), { recursive: true });
  writeFileSync(join(made, "LICENSES-OF-PACKAGES.txt"), licenceText(modules));
  // Last: its time is the tree's.
  writeFileSync(join(made, "package.json"), manifest());
}

function manifest(): string {
  const { name, version, description, license, type, engines } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  ) as Record<string, unknown>;
  return `${JSON.stringify({ name, version, description, license, type, engines, gitHead: commitOf(root) }, undefined, 2)}\n`;
}
