/**
 * Whether tests repeat their faults with the full counts, and run what takes minutes. `npm run
 * test:long` runs every file that uses this.
 */
export const isLongRun = process.env["STEWARD_TEST_LONG"] === "1";
