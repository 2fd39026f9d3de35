/**
 * Builds `dist/` before the tests when a source is newer than it: what they start is what is there
 * to read.
 */
import { execFileSync } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { RUNS_SOURCES } from "./support/launcher.ts";

const root = join(import.meta.dirname, "..");
/** With the folders, whose time changes when a file goes. */
const INPUTS = [
  "src/**",
  "gateway/**",
  "workers/**",
  "bin/*",
  "tools/build.ts",
  "tools/build/*",
  "package.json",
  "package-lock.json",
];

/** Called by the test runner once, before any test. */
export function setup(): void {
  if (RUNS_SOURCES || isFresh()) return;
  execFileSync("bin/node", ["--disable-warning=ExperimentalWarning", "tools/build.ts"], {
    cwd: root,
    stdio: "inherit",
  });
}

function isFresh(): boolean {
  const builtMs = statSync(join(root, "dist/package.json"), { throwIfNoEntry: false })?.mtimeMs;
  return (
    builtMs !== undefined &&
    globSync(INPUTS, { cwd: root }).every((path) => statSync(join(root, path)).mtimeMs < builtMs)
  );
}
