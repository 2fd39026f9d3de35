/**
 * How long a reader has not moved. Node's own timer of a socket or stream starts anew when bytes
 * have moved since it was set, so that a single one fires after once to twice its time: many short
 * ones in a row measure it within a tenth.
 */
import type { Clock } from "../base/clock.ts";

const PARTS = 10;

/** Counts timers that fire in a row. */
export interface StallMeter {
  /** The time of one timer. */
  readonly partMs: number;
  /** A timer has fired while bytes waited. True when that has gone on for the whole time. */
  fired(): boolean;
}

/** A meter for one reader that may stand still for `stallMs`. */
export function createStallMeter(stallMs: number, clock: Clock): StallMeter {
  const partMs = Math.max(1, stallMs / PARTS);
  let row = 0;
  let lastMs = -Infinity;
  return {
    partMs,
    fired() {
      const nowMs = clock.monotonic();
      // Longer than that between two means that something moved.
      row = nowMs - lastMs < partMs * 1.5 + 20 ? row + 1 : 1;
      lastMs = nowMs;
      return row >= PARTS - 1;
    },
  };
}
