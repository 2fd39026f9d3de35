/** The stores of one run of `steward dedup`. */
import type { SketchStore } from "../../dedup/analysis/sketch-store.ts";
import type { Env } from "../../kernel/state/types.ts";

export interface Stores {
  readonly sketches: SketchStore;
  /** Only with a state folder. */
  readonly verdicts?: SketchStore;
  /** Holds what people decided in `steward dedup review`. Only with a state folder. */
  readonly review?: Env;
}
