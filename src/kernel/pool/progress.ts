/** Progress on its way to the caller: never too often, and summed over the runs of one map. */
import type { Clock } from "../base/clock.ts";

/** Takes the units done so far. */
export type OnUnits = (units: number) => void;

/** The shortest time between two reports. */
export const PROGRESS_MS = 100;

/** Passes changes on, at most one every 100 ms; what comes sooner is left to the next one. */
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

/** A maker of reports, one per run, that pass on the sum over all runs. */
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
