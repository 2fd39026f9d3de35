/** A token bucket with a FIFO queue; a caller that leaves the queue takes no token. */
import type { Clock } from "../../base/clock.ts";
import { StewardError } from "../../base/errors.ts";
import type { TokenBucket } from "../types.ts";

export interface TokenBucketOptions {
  /** Maximum number of saved tokens, at least 1. */
  readonly capacity: number;
  /** Refill rate; greater than 0. */
  readonly perSecond: number;
  /** Maximum length of the queue. */
  readonly waiting: number;
}

/** A full bucket. */
export function createTokenBucket(options: TokenBucketOptions, clock: Clock): TokenBucket {
  const { capacity, perSecond, waiting } = options;
  const line = new Set<() => void>();
  let tokens = capacity;
  let filledAtMs = clock.monotonic();
  let timer: Disposable | undefined;

  function refill(): void {
    const now = clock.monotonic();
    tokens = Math.min(capacity, tokens + ((now - filledAtMs) * perSecond) / 1_000);
    filledAtMs = now;
  }

  function serve(): void {
    refill();
    for (const turn of line) {
      // A timer may fire a rounding error early.
      if (tokens < 1 - 1e-6) break;
      tokens -= 1;
      line.delete(turn);
      turn();
    }
    timer?.[Symbol.dispose]();
    timer =
      line.size === 0
        ? undefined
        : clock.timer(filledAtMs + ((1 - tokens) * 1_000) / perSecond, serve);
  }

  return {
    async take(signal) {
      signal.throwIfAborted();
      if (line.size >= waiting)
        throw new StewardError(
          "exhausted",
          `${waiting} calls are already waiting for the rate limit; retry later`,
          { retryAfterMs: Math.ceil((waiting * 1_000) / perSecond) },
        );
      const requestedAtMs = clock.monotonic();
      await new Promise<void>((resolve, reject) => {
        const leave = (): void => {
          line.delete(turn);
          reject(signal.reason as Error);
          serve();
        };
        const turn = (): void => {
          signal.removeEventListener("abort", leave);
          resolve();
        };
        signal.addEventListener("abort", leave, { once: true });
        line.add(turn);
        serve();
      });
      return clock.monotonic() - requestedAtMs;
    },
  };
}
