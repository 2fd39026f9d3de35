/** Progress reports: rate-limited, and summed over the runs of one map. */
import type { Clock } from "../base/clock.ts";

/** Receives the units done so far. */
export type OnUnits = (units: number) => void;

/** Minimum time between two reports. */
export const PROGRESS_MS = 100;

/** Forwards changes at most every 100 ms; earlier ones are merged into the next. */
export function throttled(clock: Clock, onProgress: OnUnits | undefined): OnUnits | undefined {
  if (!onProgress) return undefined;
  let lastMs = Number.NEGATIVE_INFINITY;
  let seen = 0;
  return (units) => {
    const nowMs = clock.monotonic();
    if (units === seen || nowMs - lastMs < PROGRESS_MS) return;
    lastMs = nowMs;
    seen = units;
    onProgress(units);
  };
}

/** Creates one reporter per run; they forward the sum over all runs. */
export function summed(onUnits: OnUnits | undefined): (() => OnUnits) | undefined {
  if (!onUnits) return undefined;
  let total = 0;
  return () => {
    let mine = 0;
    return (units) => {
      total += units - mine;
      mine = units;
      onUnits(total);
    };
  };
}
