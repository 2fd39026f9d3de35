/**
 * Circuit breaker for restarts: the delay before a crashed component starts again, and giving up
 * after five crashes in 60 s.
 */
import type { Backoff } from "./component.ts";

const WINDOW_MS = 60_000;
const MAX_CRASHES = 5;

export interface Breaker {
  /**
   * Delay in milliseconds after a crash at this monotonic time; undefined when the component is
   * given up.
   */
  crashed(atMs: number): number | undefined;
}

/** Without a backoff the first crash gives up. */
export function createBreaker(restart: Backoff | undefined): Breaker {
  let recent: number[] = [];
  return {
    crashed(atMs) {
      recent = [...recent.filter((crash) => atMs - crash < WINDOW_MS), atMs];
      if (restart === undefined || recent.length >= MAX_CRASHES) return undefined;
      return Math.min(restart.maxMs, restart.firstMs * 2 ** (recent.length - 1));
    },
  };
}
