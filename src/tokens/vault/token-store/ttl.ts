/** How long a token lives: one calculation for new tokens and renewals. */
import { StewardError } from "../../../kernel/base/errors.ts";
import { goDurationText } from "../core/go-duration.ts";

/** What the mount that makes tokens allows. */
export interface TtlLimits {
  readonly defaultLeaseTtlMs: number;
  readonly maxLeaseTtlMs: number;
}

/** Zero means not set. */
export interface TtlQuestion {
  /** Requested by the client. */
  readonly incrementMs: number;
  /** What it gets when it does not ask: of the role, or of the token when it was made. */
  readonly usualMs: number;
  /** Renewals give this long, again and again. */
  readonly periodMs: number;
  /** The role's maximum. */
  readonly maxTtlMs: number;
  /** The token's own maximum, also with a period. */
  readonly explicitMaxTtlMs: number;
  /** When it was made. */
  readonly startedAtMs: number;
  readonly nowMs: number;
  readonly limits: TtlLimits;
}

/** Whole seconds from now on, and what was cut. Throws `invalid` past the maximum. */
export function effectiveTtl(question: TtlQuestion): {
  readonly ttlMs: number;
  readonly warnings: readonly string[];
} {
  const { incrementMs, usualMs, periodMs, explicitMaxTtlMs, startedAtMs, nowMs, limits } = question;
  const mostMs = Math.min(
    limits.maxLeaseTtlMs,
    question.maxTtlMs || Number.POSITIVE_INFINITY,
    explicitMaxTtlMs || Number.POSITIVE_INFINITY,
  );
  const warnings: string[] = [];
  let ttlMs = incrementMs || usualMs || limits.defaultLeaseTtlMs;
  let lifeMs = mostMs;
  if (periodMs > 0) {
    ttlMs = periodMs;
    lifeMs = explicitMaxTtlMs || Number.POSITIVE_INFINITY;
    if (periodMs > mostMs) {
      ttlMs = mostMs;
      warnings.push(
        `period of "${goDurationText(periodMs)}" exceeded the effective max_ttl of "${goDurationText(mostMs)}"; period value is capped accordingly`,
      );
    }
  }
  // A clock that was set back since must not make it live longer.
  const leftMs = Math.min(lifeMs, startedAtMs + lifeMs - nowMs);
  if (leftMs < 1_000)
    throw new StewardError("invalid", "past the max TTL, cannot renew", {
      rule: "max_ttl",
      remedy: "create a new token",
    });
  if (ttlMs > leftMs) {
    warnings.push(
      `TTL of "${goDurationText(ttlMs)}" exceeded the effective max_ttl of "${goDurationText(leftMs)}"; TTL value is capped accordingly`,
    );
    ttlMs = leftMs;
  }
  return { ttlMs: Math.max(1_000, Math.floor(ttlMs / 1_000) * 1_000), warnings };
}
