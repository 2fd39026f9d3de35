import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";

/** An installation in which the daemon only says where its sources without types are from. */
function installed(name: string): string {
  const parent = mkdtempSync(join(tmpdir(), "steward-test-"));
  onTestFinished(() => rmSync(parent, { recursive: true }));
  const root = join(parent, name);
  for (const folder of ["bin", "src", "node_modules/.steward"]) mkdirSync(join(root, folder), { recursive: true });
  copyFileSync("bin/steward", join(root, "bin/steward"));
  writeFileSync(join(root, "bin/node"), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
  writeFileSync(join(root, "node_modules/.steward/loader.mjs"), "globalThis.loadedFrom = import.meta.dirname;\n");
  writeFileSync(join(root, "src/main.ts"), "console.log(globalThis.loadedFrom);\n");
  return root;
}

it.each(["steward", "a b", "100%", "a%20b", "c#", "what?"])("loads the texts without types in a folder named %j", (name) => {
  const root = installed(name);
  expect(execFileSync(join(root, "bin/steward"), { encoding: "utf8" }).trim()).toBe(join(root, "node_modules/.steward"));
});
