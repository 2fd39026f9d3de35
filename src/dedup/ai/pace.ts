/**
 * When the requests of a run start. A provider's rate limit is not known beforehand, so it is found:
 * each rate limit makes the interval between two starts longer, each answer a little shorter. Without
 * an interval, all documents that wait would start at the end of a pause at once, and be refused again.
 */
import { createSemaphore } from "../../kernel/async/semaphore.ts";
import { delay, type Clock } from "../../kernel/base/clock.ts";

/** Interval after the first rate limit, when the setting is shorter. */
const FIRST_INTERVAL_MS = 50;
const MAX_INTERVAL_MS = 60_000;
const LONGER = 2;
const SHORTER = 0.95;
/** Pause after a rate limit that comes without a time. */
const PAUSE_MS = 5_000;

/** When the next request of a run may start; shared by all its documents. */
export interface Pace {
  /** Waits for its turn, in the order of the calls. Returns when the request starts. */
  turn(signal: AbortSignal): Promise<number>;
  /** The request of that start was answered, with or without a suggestion. */
  answered(): void;
  /** The request of that start was refused by a rate limit: no other starts until it has passed. */
  limited(startedMs: number, retryAfterMs: number | undefined): void;
  /** How long rate limits have been the only answers; 0 when the last one was none. */
  limitedForMs(): number;
  /** Rate limits so far. */
  readonly pauses: number;
}

/** `intervalMs` is the shortest interval between two starts. */
export function createPace(clock: Clock, intervalMs: number): Pace {
  const line = createSemaphore(1);
  let currentMs = intervalMs;
  let nextMs = clock.monotonic();
  let slowedMs = Number.NEGATIVE_INFINITY;
  let limitedSinceMs: number | undefined;
  let pauses = 0;
  return {
    async turn(signal) {
      using _first = await line.acquire(signal);
      for (let now = clock.monotonic(); now < nextMs; now = clock.monotonic())
        await delay(clock, nextMs - now, signal);
      const startedMs = clock.monotonic();
      nextMs = startedMs + currentMs;
      return startedMs;
    },
    answered() {
      limitedSinceMs = undefined;
      currentMs = Math.max(intervalMs, currentMs * SHORTER);
    },
    limited(startedMs, retryAfterMs = PAUSE_MS) {
      const now = clock.monotonic();
      pauses += 1;
      limitedSinceMs ??= now;
      // Requests that had started before the interval grew say nothing about the longer one.
      if (startedMs >= slowedMs) {
        slowedMs = now;
        currentMs = Math.min(MAX_INTERVAL_MS, Math.max(FIRST_INTERVAL_MS, currentMs * LONGER));
      }
      nextMs = Math.max(nextMs, now + Math.max(retryAfterMs, currentMs));
    },
    limitedForMs: () => (limitedSinceMs === undefined ? 0 : clock.monotonic() - limitedSinceMs),
    get pauses() {
      return pauses;
    },
  };
}
