/** The stores of a run in its state folder; loaded only by a run that has one. */
import { readdirSync } from "node:fs";
import { createEnvSketchStore, createEnvVerdictStore } from "../../dedup/analysis/sketch-store.ts";
import { reviewStore } from "../../dedup/review/store.ts";
import { sketchStore } from "../../dedup/stores.ts";
import { systemClock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { lockStateDirectory } from "../../kernel/state/folder/directory-lock.ts";
import { createStateFactory } from "../../kernel/state/state-factory.ts";
import type { Run } from "./run.ts";
import type { Stores } from "./stores.ts";

const OPTION = "--state";

/**
 * Holds the folder's lock meanwhile, and makes it private. Throws before `use` is called when it
 * cannot be written to, or when it holds other files.
 */
export async function withStateFolder<T>(
  directory: string,
  { log }: Pick<Run, "log">,
  use: (stores: Stores) => Promise<T>,
): Promise<T> {
  assertOwnFolder(directory);
  const lock = lockStateDirectory(directory, OPTION);
  try {
    const state = createStateFactory({ directory, clock: systemClock, log });
    const env = await state.open(sketchStore);
    try {
      const review = await state.open(reviewStore);
      try {
        return await use({
          sketches: createEnvSketchStore(env),
          verdicts: createEnvVerdictStore(env),
          review,
        });
      } finally {
        await review.close();
      }
    } finally {
      await env.close();
    }
  } finally {
    lock.release();
  }
}

/** A folder that others use, or that is read, would be closed to them. */
function assertOwnFolder(directory: string): void {
  const names = namesIn(directory).filter((name) => name !== "lost+found");
  if (names.length === 0 || names.some((name) => name === "lock" || name.endsWith(".mdb"))) return;
  throw new StewardError(
    "conflict",
    `${OPTION} ${directory}: holds other files and no state of Steward, which would make it private`,
    { rule: "a folder of its own", remedy: "give a new folder or an empty one" },
  );
}

/** None where the folder is not there yet; what else is wrong with it, the lock says. */
function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
