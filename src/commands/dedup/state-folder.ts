/** The stores of a run in its state folder; loaded only by a run that has one. */
import { createEnvSketchStore, createEnvVerdictStore } from "../../dedup/analysis/sketch-store.ts";
import { reviewStore } from "../../dedup/review/store.ts";
import { sketchStore } from "../../dedup/stores.ts";
import { systemClock } from "../../kernel/base/clock.ts";
import { lockStateDirectory } from "../../kernel/state/folder/directory-lock.ts";
import { createStateFactory } from "../../kernel/state/state-factory.ts";
import type { Run } from "./run.ts";
import type { Stores } from "./stores.ts";

/** Holds the folder's lock meanwhile. Throws before `use` is called when it cannot be written to. */
export async function withStateFolder<T>(
  directory: string,
  { log }: Pick<Run, "log">,
  use: (stores: Stores) => Promise<T>,
): Promise<T> {
  const lock = lockStateDirectory(directory);
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
