/**
 * Measures how long a reader has not read. Node's timer of a socket or stream restarts when bytes
 * moved since it was set, so a single one fires after one to two times its duration: several short
 * ones in a row measure within a tenth.
 */
import type { Clock } from "../../base/clock.ts";

const PARTS = 10;

/** Counts consecutive timeouts. */
export interface StallMeter {
  /** Duration of one timer. */
  readonly partMs: number;
  /** Call when a timer fired while bytes waited. True when that has lasted for the whole time. */
  fired(): boolean;
}

/** A meter for a reader that may stall for `stallMs`. */
export function createStallMeter(stallMs: number, clock: Clock): StallMeter {
  const partMs = Math.max(1, stallMs / PARTS);
  let row = 0;
  let lastMs = -Infinity;
  return {
    partMs,
    fired() {
      const nowMs = clock.monotonic();
      // A longer gap between two means that bytes moved.
      row = nowMs - lastMs < partMs * 1.5 + 20 ? row + 1 : 1;
      lastMs = nowMs;
      return row >= PARTS - 1;
    },
  };
}
