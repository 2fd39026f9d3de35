/** Retry delays, and the retry budget over all calls. */
import type { RetryRule } from "../types.ts";
import { backoffMs } from "../../async/backoff.ts";

/** Retries never exceed this share of calls. */
const EXTRA_LOAD = 0.2;

/**
 * Retries allowed while calls are few, so that the first failure of a quiet client can be retried.
 */
const RESERVE = 10;

/** Calls that are remembered; older ones count half. */
const REMEMBERED_CALLS = 1_000;

/**
 * Keeps retries at or below a fifth of the calls (or ten, while calls are few), so that they do not
 * feed an outage.
 */
export interface RetryBudget {
  called(): void;
  /** Takes one retry if available. */
  spend(): boolean;
}

/** For calls without a shared budget. */
export const unlimitedRetries: RetryBudget = { called: () => undefined, spend: () => true };

export function createRetryBudget(): RetryBudget {
  let calls = 0;
  let retries = 0;
  return {
    called() {
      calls += 1;
      if (calls < REMEMBERED_CALLS) return;
      calls /= 2;
      retries /= 2;
    },
    spend() {
      if (retries + 1 > Math.max(RESERVE, calls * EXTRA_LOAD)) return false;
      retries += 1;
      return true;
    },
  };
}

/**
 * Delay before attempt `attempt + 1`: what the upstream requested, or exponential backoff with
 * jitter on half of it.
 */
export function retryDelayMs(
  rule: RetryRule,
  attempt: number,
  retryAfterMs: number | undefined,
  fraction: number,
): number {
  if (retryAfterMs !== undefined) return Math.min(retryAfterMs, rule.maxDelayMs);
  const delayMs = backoffMs(attempt, { firstMs: rule.baseDelayMs, maxMs: rule.maxDelayMs });
  return delayMs / 2 + (fraction * delayMs) / 2;
}
