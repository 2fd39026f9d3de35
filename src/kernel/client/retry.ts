/** Retry delays, and the retry budget over all calls. */
import type { RetryRule } from "./types.ts";
import type { ReplyHeaders } from "./reply-headers.ts";
import { backoffMs } from "../async/backoff.ts";

/** A longer Retry-After is reduced to this. */
const MAX_RETRY_AFTER_MS = 86_400_000;

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

/**
 * The delay requested by a response: `Retry-After` in seconds or as a date (RFC 9110 §10.2.3), or
 * the reset of an exhausted rate limit (`x-ratelimit-reset`, seconds since 1970). Dates are
 * relative to the response's own clock where it sends one. Undefined without such a header or when
 * the time is past.
 */
export function retryAfterMs(headers: ReplyHeaders, nowMs: number): number | undefined {
  const theirNowMs = parseDate(headers["date"]) ?? nowMs;
  const after = headers["retry-after"]?.trim();
  if (after !== undefined && /^\d{1,12}$/.test(after))
    return Math.min(Number(after) * 1_000, MAX_RETRY_AFTER_MS);
  const reset =
    headers["x-ratelimit-remaining"] === "0" ? headers["x-ratelimit-reset"]?.trim() : undefined;
  const untilMs =
    parseDate(after) ??
    (reset !== undefined && /^\d{1,12}$/.test(reset) ? Number(reset) * 1_000 : undefined);
  if (untilMs === undefined || untilMs <= theirNowMs) return undefined;
  return Math.min(untilMs - theirNowMs, MAX_RETRY_AFTER_MS);
}

/** An HTTP date in milliseconds since 1970; undefined for anything else. */
export function parseDate(text: string | undefined): number | undefined {
  if (text === undefined || !/^[A-Za-z]{3,9},? .{10,40}$/.test(text)) return undefined;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? undefined : ms;
}
