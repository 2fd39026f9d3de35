import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ALONE, TIMED, WAITING } from "../alone.ts";

const root = join(import.meta.dirname, "../..");

/**
 * What changes a whole process or counts what it holds, so that files that share the process would
 * disturb each other.
 */
const PROCESS_WIDE = [
  /\bvi\.(mock|doMock|stubEnv|stubGlobal|resetModules)\(/,
  /\bprocess\.(chdir|umask|on|once|memoryUsage|getActiveResourcesInfo)\(/,
  /\bprocess\.env(\.\w+|\[[^\]]+\])\s*=[^=]/,
  /\bdelete process\.env/,
  /\/proc\/self\//,
  /node:diagnostics_channel/,
  /\bsetFlagsFromString\(/,
  /\b(inspectThreads|createProfiles|createHeapSampler)\(/,
  /\bhaltWrites\(/,
];

it("a test file that shares its process neither changes the whole process nor counts what it holds", () => {
  const files = globSync("test/**/*.test.ts", { cwd: root }).filter(
    (file) => ALONE[file] === undefined && file !== "test/tidy/shared-process.test.ts",
  );
  const found = files.flatMap((file) => {
    const text = readFileSync(join(root, file), "utf8");
    return PROCESS_WIDE.flatMap((pattern) => pattern.exec(text)?.[0] ?? []).map(
      (call) => `${file}: ${call} needs an entry in test/alone.ts`,
    );
  });
  expect(found).toEqual([]);
});

it("every file of test/alone.ts exists", () => {
  const files = Object.keys({ ...ALONE, ...WAITING, ...TIMED });
  expect(files.filter((file) => globSync(file, { cwd: root }).length === 0)).toEqual([]);
});

it("no module that test files share registers a hook by itself: it would run after the first of them alone", () => {
  // Vitest runs its setup file for each of them.
  const modules = globSync("test/**/*.ts", { cwd: root }).filter(
    (file) => !file.endsWith(".test.ts") && file !== "test/left-processes.ts",
  );
  expect(
    modules.filter((file) =>
      /^(before|after)(All|Each)\(/m.test(readFileSync(join(root, file), "utf8")),
    ),
  ).toEqual([]);
});

it("a process that runs until it is stopped is started by test/support/spawn.ts, so that it ends with the test process", () => {
  const files = globSync("test/**/*.ts", { cwd: root }).filter(
    (file) => file !== "test/support/spawn.ts",
  );
  expect(
    files.filter((file) =>
      /^import (?!type)[^;]*\bspawn\b[^;]* from "node:child_process"/m.test(
        readFileSync(join(root, file), "utf8"),
      ),
    ),
  ).toEqual([]);
});
