/** Requests allowed per minute. */
import { retryAfter } from "../control-plane/inject-fault.ts";
import type { Reply } from "../control-plane/reply.ts";
import { refuse } from "./answers.ts";
import type { RateLimit } from "./types.ts";

/** Counts requests. */
export interface Limiter {
  /** Counts one; its refusal when there were too many. */
  spend(nowMs: number): Reply | undefined;
  set(limit: RateLimit | undefined): void;
}

const MINUTE_MS = 60_000;

/** Minutes are those of the clock. */
export function createLimiter(initial: RateLimit | undefined): Limiter {
  let limit = initial;
  let minute = 0;
  let spent = 0;
  return {
    spend(nowMs) {
      if (limit === undefined) return undefined;
      if (Math.floor(nowMs / MINUTE_MS) !== minute) {
        minute = Math.floor(nowMs / MINUTE_MS);
        spent = 0;
      }
      spent += 1;
      if (spent <= limit.perMinute) return undefined;
      const { announce = "seconds" } = limit;
      const headers =
        announce === "none"
          ? {}
          : retryAfter(
              {
                retryAfterS: Math.max(1, Math.ceil(((minute + 1) * MINUTE_MS - nowMs) / 1000)),
                as: announce,
              },
              nowMs,
            );
      return { ...refuse(429, "too many requests"), headers };
    },
    set(next) {
      limit = next;
      spent = 0;
    },
  };
}
