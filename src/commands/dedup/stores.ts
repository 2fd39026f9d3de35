/** Where a run keeps signatures and scores: in memory, or in the state folder. */
import {
  createEnvSketchStore,
  createEnvVerdictStore,
  createMemorySketchStore,
} from "../../dedup/analysis/sketch-store.ts";
import type { SketchStore } from "../../dedup/analysis/sketch-store.ts";
import { reviewStore } from "../../dedup/review/store.ts";
import { sketchStore } from "../../dedup/stores.ts";
import { systemClock } from "../../kernel/base/clock.ts";
import { lockStateDirectory } from "../../kernel/state/folder/directory-lock.ts";
import { createStateFactory } from "../../kernel/state/state-factory.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { Run } from "./run.ts";

/** Stores of one run. */
export interface Stores {
  readonly sketches: SketchStore;
  /** Only with a state folder. */
  readonly verdicts?: SketchStore;
  /** Holds what people decided in `steward dedup review`. Only with a state folder. */
  readonly review?: Env;
}

/**
 * Signatures, scores and decisions stay in the state folder when there is one, so that the next run signs and
 * verifies only what is new and knows what was decided. Throws before `use` is called when the folder cannot be written to.
 */
export async function withStores<T>(
  { options, log }: Run,
  use: (stores: Stores) => Promise<T>,
): Promise<T> {
  if (options.state === undefined)
    return await use({ sketches: createMemorySketchStore({ once: true }) });
  const lock = lockStateDirectory(options.state);
  try {
    const state = createStateFactory({ directory: options.state, clock: systemClock, log });
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
