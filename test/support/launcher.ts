/** Which Steward the tests start. */
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/**
 * True when the tests run the sources as a clone does; otherwise they run the built tree, which
 * starts in less than half the time.
 */
export const RUNS_SOURCES: boolean = process.env["STEWARD_TEST_SOURCES"] === "1";

/** The launcher of that Steward. */
export const LAUNCHER = join(root, RUNS_SOURCES ? "bin/steward" : "dist/bin/steward");
