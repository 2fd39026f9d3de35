/** Where a run keeps signatures and scores: in memory, or in the state folder. */
import { createMemorySketchStore } from "../../dedup/analysis/sketch-store.ts";
import type { Run } from "./run.ts";
import type { Stores } from "./stores.ts";

/**
 * Signatures, scores and decisions stay in the state folder when there is one, so that the next run signs and
 * verifies only what is new and knows what was decided. Throws before `use` is called when the folder cannot be written to.
 */
export async function withStores<T>(run: Run, use: (stores: Stores) => Promise<T>): Promise<T> {
  const { state } = run.options;
  if (state === undefined) return await use({ sketches: createMemorySketchStore({ once: true }) });
  const { withStateFolder } = await import("./state-folder.ts");
  return await withStateFolder(state, run, use);
}
