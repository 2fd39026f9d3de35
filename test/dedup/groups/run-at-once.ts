/** Long computations of the groups, without the pauses that the daemon makes. */
import type { Steps } from "../../../src/dedup/groups/steps.ts";

/** Runs to the end without a pause. */
export function runAtOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
