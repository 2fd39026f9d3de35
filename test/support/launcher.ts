/** Which Steward the tests start. */
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/**
 * True when the tests run the sources as a clone does; otherwise they run the built tree, which
 * starts in less than half the time.
 */
export const RUNS_SOURCES: boolean = process.env["STEWARD_TEST_SOURCES"] === "1";

const tree = RUNS_SOURCES ? root : join(root, "dist");

/** The launcher of that Steward. */
export const LAUNCHER = join(tree, "bin/steward");

/** The launcher of the sources, whatever the tests run otherwise. */
export const SOURCES_LAUNCHER = join(root, "bin/steward");

/**
 * What starts its daemon: the launcher, or in the test projects that say so (vitest.config.ts) the
 * program itself, without the launcher's bounds of memory. Those take a quarter of the CPU time of
 * a start, and the tests start a thousand daemons.
 */
export const DAEMON: readonly [string, ...string[]] =
  process.env["STEWARD_TEST_UNBOUNDED"] === "1"
    ? [
        join(tree, "bin/node"),
        "--disable-warning=ExperimentalWarning",
        join(tree, RUNS_SOURCES ? "src/main.ts" : "lib/main.js"),
      ]
    : [LAUNCHER];
