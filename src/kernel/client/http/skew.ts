/** Estimates the skew of another clock from its Date headers. */
import type { Clock } from "../../base/clock.ts";
import { parseDate } from "./retry-after.ts";

const SAMPLES = 9;

/** A Date has whole seconds; on average it is half a second behind. */
const HALF_SECOND_MS = 500;

/** Slower responses say too little about when their Date was written. */
const MAX_ROUND_TRIP_MS = 10_000;

/** Beyond a day a Date is nonsense, not skew. */
const MAX_SKEW_MS = 86_400_000;

/** Collects samples; uses the median of the last nine, so that one wrong header has no effect. */
export interface Skew {
  /** A response whose headers arrived now, to a request sent at a monotonic time. */
  sample(date: string | undefined, sentAtMs: number): void;
  /** 0 before the first sample. */
  skewMs(): number;
}

export function createSkew(clock: Clock): Skew {
  // Their wall time minus our monotonic time: unaffected when our own wall clock is set.
  const samples: number[] = [];
  let median: number | undefined;
  return {
    sample(date, sentAtMs) {
      const theirMs = parseDate(date);
      const nowMs = clock.monotonic();
      if (theirMs === undefined || nowMs - sentAtMs > MAX_ROUND_TRIP_MS) return;
      const middleMs = (sentAtMs + nowMs) / 2;
      if (Math.abs(theirMs - (clock.now() - (nowMs - middleMs))) > MAX_SKEW_MS) return;
      samples.push(theirMs + HALF_SECOND_MS - middleMs);
      if (samples.length > SAMPLES) samples.shift();
      median = samples.toSorted((a, b) => a - b)[(samples.length - 1) >> 1];
    },
    skewMs: () => (median === undefined ? 0 : Math.round(median + clock.monotonic() - clock.now())),
  };
}
