import { defineConfig } from "vitest/config";
import { ALONE, TIMED } from "./test/alone.ts";

const alone = Object.keys(ALONE);
const timed = Object.keys(TIMED);

export default defineConfig({
  test: {
    globalSetup: "./test/built-tree.ts",
    setupFiles: ["./test/left-processes.ts"],
    pool: "forks",
    // Tests wait about as long as they compute: four workers keep two cores busy.
    maxWorkers: 4,
    maxConcurrency: 20,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What is waited for comes at once on a quiet machine; a busy one is no failure.
    expect: { poll: { timeout: 30_000 } },
    reporters: ["default", "./test/reporter.ts"],
    // Starting a process for a file costs more than most files take, so those that need none of
    // their own share the workers.
    projects: [
      { extends: true, test: { name: "alone", include: alone, isolate: true } },
      {
        extends: true,
        test: {
          name: "shared",
          include: ["test/**/*.test.ts"],
          exclude: [...alone, ...timed],
          isolate: false,
          // Node imports the files, as it does in production: a quarter less CPU time than Vite's
          // runner. Module mocks need that runner, so files with one are listed in test/alone.ts.
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
      // Last and one at a time: what they measure is Steward's, not the other tests'.
      {
        extends: true,
        test: {
          name: "timed",
          include: timed,
          isolate: true,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
          experimental: { viteModuleRunner: false, nodeLoader: false },
        },
      },
    ],
  },
});
