/**
 * Quantiles of durations over ten minutes, accurate to one percent, in bounded memory: five
 * rotating windows of two minutes with buckets that grow by 2 %.
 */
import type { Clock } from "../../../kernel/base/clock.ts";

const WINDOW_MS = 120_000;
const WINDOWS = 5;

const SMALLEST_S = 1e-6;
const GROWTH = Math.log(1.02);

/** Buckets from 1 µs to half an hour. */
const CLASSES = Math.ceil(Math.log(2_000 / SMALLEST_S) / GROWTH);

/** One series. */
export interface Summary {
  observe(seconds: number): void;
  /** Seconds; NaN without a value in the last ten minutes. */
  quantile(share: number): number;
  /** Since the start. */
  readonly count: number;
  readonly sum: number;
}

interface Window {
  /** Number of the two-minute step since the clock's start; -1 when unused. */
  step: number;
  readonly counts: Map<number, number>;
  total: number;
  most: number;
}

export function createSummary(clock: Clock): Summary {
  const windows: Window[] = Array.from({ length: WINDOWS }, () => ({
    step: -1,
    counts: new Map(),
    total: 0,
    most: 0,
  }));
  let count = 0;
  let sum = 0;

  function current(): Window {
    const step = Math.floor(clock.monotonic() / WINDOW_MS);
    const window = windows[step % WINDOWS] as Window;
    if (window.step !== step) {
      window.step = step;
      window.counts.clear();
      window.total = 0;
      window.most = 0;
    }
    return window;
  }

  return {
    observe(seconds) {
      const window = current();
      const index = classOf(seconds);
      window.counts.set(index, (window.counts.get(index) ?? 0) + 1);
      window.total += 1;
      window.most = Math.max(window.most, seconds);
      count += 1;
      sum += seconds;
    },
    quantile(share) {
      const now = Math.floor(clock.monotonic() / WINDOW_MS);
      return quantileOf(
        windows.filter(({ step }) => step > now - WINDOWS && step <= now),
        share,
      );
    },
    get count() {
      return count;
    },
    get sum() {
      return sum;
    },
  };
}

function classOf(seconds: number): number {
  return seconds <= SMALLEST_S
    ? 0
    : Math.min(CLASSES, Math.floor(Math.log(seconds / SMALLEST_S) / GROWTH));
}

function quantileOf(windows: readonly Window[], share: number): number {
  const total = windows.reduce((all, window) => all + window.total, 0);
  if (total === 0) return Number.NaN;
  const most = Math.max(...windows.map((window) => window.most));
  const classes = [...new Set(windows.flatMap((window) => [...window.counts.keys()]))].toSorted(
    (a, b) => a - b,
  );
  let left = Math.max(1, Math.ceil(share * total));
  for (const index of classes) {
    left -= windows.reduce((all, window) => all + (window.counts.get(index) ?? 0), 0);
    // The middle of a bucket, at most the largest value seen.
    if (left <= 0) return Math.min(most, SMALLEST_S * Math.exp((index + 0.5) * GROWTH));
  }
  return most;
}
