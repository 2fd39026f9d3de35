import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { ALONE, TIMED, WAITING } from "./test/alone.ts";

// Inherited by the workers and their threads: without it each of them compiles every module anew.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/steward-test");

/** Of the projects that measure neither memory nor times of a daemon: see test/support/launcher.ts. */
const env = { STEWARD_TEST_UNBOUNDED: "1" };
const alone = Object.keys(ALONE);
const behindOthers = Object.keys({ ...WAITING, ...TIMED });

/** A project that runs when those with a lower order have ended, each file in its own process. */
const behind = (
  name: string,
  { files, ...order }: { files: string[]; groupOrder: number; maxWorkers: number },
) => ({
  extends: true as const,
  test: {
    name,
    include: files,
    isolate: true,
    maxWorkers: order.maxWorkers,
    sequence: { groupOrder: order.groupOrder },
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
});

export default defineConfig({
  test: {
    globalSetup: "./test/built-tree.ts",
    setupFiles: ["./test/left-processes.ts"],
    pool: "forks",
    // Tests wait about as long as they compute: four workers keep two cores busy.
    maxWorkers: 4,
    maxConcurrency: 20,
    // What is waited for comes soon on a quiet machine; a slow or busy one is no failure.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ["default", "./test/reporter.ts"],
    // Starting a process for a file costs more than most files take, so those that need none of
    // their own share the workers.
    projects: [
      { extends: true, test: { name: "alone", include: alone, isolate: true, env } },
      {
        extends: true,
        test: {
          name: "shared",
          env,
          include: ["test/**/*.test.ts"],
          exclude: [...alone, ...behindOthers],
          isolate: false,
          // Node imports the files, as it does in production: a quarter less CPU time than Vite's
          // runner. Module mocks need that runner, so files with one are listed in test/alone.ts.
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
      behind("waiting", { files: Object.keys(WAITING), groupOrder: 1, maxWorkers: 3 }),
      // One at a time: what they measure is Steward's, not the other tests'.
      behind("timed", { files: Object.keys(TIMED), groupOrder: 2, maxWorkers: 1 }),
    ],
  },
});
