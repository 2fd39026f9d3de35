/** Reads the delay that a response requests, and HTTP dates. */
import type { ReplyHeaders } from "../reply-headers.ts";

/** A longer Retry-After is reduced to this. */
const MAX_RETRY_AFTER_MS = 86_400_000;

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
