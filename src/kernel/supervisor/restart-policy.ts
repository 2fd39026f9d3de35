/** When a crashed component starts again; after five crashes in 60 s it is given up. */
import { backoffMs, type Backoff } from "../async/backoff.ts";

const WINDOW_MS = 60_000;
const MAX_CRASHES = 5;

export interface RestartPolicy {
  /**
   * Delay in milliseconds after a crash at this monotonic time; undefined when the component is
   * given up.
   */
  crashed(atMs: number): number | undefined;
}

/** Without a backoff the first crash gives up. */
export function createRestartPolicy(restart: Backoff | undefined): RestartPolicy {
  let recent: number[] = [];
  return {
    crashed(atMs) {
      recent = [...recent.filter((crash) => atMs - crash < WINDOW_MS), atMs];
      if (restart === undefined || recent.length >= MAX_CRASHES) return undefined;
      return backoffMs(recent.length, restart);
    },
  };
}
