/**
 * How long to wait before a crashed component starts again, and when to give it up: five crashes in
 * 60 s.
 */
import type { Backoff } from "./component.ts";

const WINDOW_MS = 60_000;
const MAX_CRASHES = 5;

/** Remembers the crashes of one component. */
export interface Breaker {
  /**
   * Milliseconds to wait after a crash at this monotonic time; undefined when the component is
   * given up.
   */
  crashed(atMs: number): number | undefined;
}

/** A breaker for one component; without a back-off the first crash gives it up. */
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
