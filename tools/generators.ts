/**
 * The programs of `npm run generate`: 240 MB that neither running nor testing Steward needs, so they
 * are packages of their own, `tools/generators`, installed at the first use.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "generators");
const packages = join(folder, "node_modules");

export const BUF = join(packages, ".bin/buf");
export const ASC = join(packages, "assemblyscript/bin/asc.js");

/** Installs what the lock file says unless it is there. Throws when npm fails. */
export function installGenerators(): void {
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8");
  const installed = join(packages, ".steward-lock");
  if (existsSync(installed) && readFileSync(installed, "utf8") === lock) return;
  process.stderr.write("installing the generators of tools/generators\n");
  const done = spawnSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (done.status !== 0) throw new Error("npm ci failed in tools/generators");
  writeFileSync(installed, lock);
}
