import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // What is polled for comes at once on a quiet machine; a busy one is no failure.
    expect: { poll: { timeout: 15_000 } },
    reporters: ["default", "./test/reporter.ts"],
  },
});
