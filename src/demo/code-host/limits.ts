/**
 * Rate limits: the hourly quota of each installation's tokens, and the secondary limits that
 * upstream does not report.
 */
import { refusal, type Reply } from "./answers.ts";
import type { CodeHostOptions, SecondaryLimit } from "./types.ts";

/** One installation's quota, in its present hour. */
export interface Quota {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
  /** Seconds since 1970. */
  readonly resetAtS: number;
}

/** Counts calls. Instants are of the host's clock. */
export interface Limits {
  /** Whether the quota is in force at all. */
  readonly hourly: boolean;
  /** The quota of an installation, without counting. */
  quota(installationId: number, repositories: number, nowMs: number): Quota | undefined;
  /**
   * Counts one call of a token: its quota afterwards, and the refusal when it is spent. Undefined
   * while quotas are off.
   */
  spend(
    installationId: number,
    repositories: number,
    nowMs: number,
  ): { readonly quota: Quota; readonly refused: Reply | undefined } | undefined;
  /** The refusal of one more request at once. */
  crowded(inFlight: number, nowMs: number): Reply | undefined;
  /** Counts one mint of an app; the refusal when there were too many in this minute. */
  mint(appId: number, nowMs: number): Reply | undefined;
}

const HOUR_S = 3600;
const MINUTE_MS = 60_000;
const ABOUT =
  "https://docs.github.com/free-pro-team@latest/rest/overview/rate-limits-for-the-rest-api";

/** Bounded by the number of apps and installations. */
export function createLimits(options: Pick<CodeHostOptions, "hourlyLimit" | "secondary">): Limits {
  const hourly = options.hourlyLimit ?? "upstream";
  const { secondary = {} } = options;
  const hours = new Map<number, { used: number; resetAtS: number }>();
  const minutes = new Map<number, { minute: number; mints: number }>();

  const hourOf = (installationId: number, nowS: number): { used: number; resetAtS: number } => {
    const known = hours.get(installationId);
    if (known !== undefined && nowS < known.resetAtS) return known;
    const fresh = { used: 0, resetAtS: nowS + HOUR_S };
    hours.set(installationId, fresh);
    return fresh;
  };
  const quota = (
    installationId: number,
    repositories: number,
    nowMs: number,
  ): Quota | undefined => {
    if (hourly === "off") return undefined;
    const { used, resetAtS } = hourOf(installationId, Math.floor(nowMs / 1000));
    const limit =
      hourly === "upstream" ? Math.min(12_500, 5000 + 50 * Math.max(0, repositories - 20)) : hourly;
    return { limit, used, remaining: Math.max(0, limit - used), resetAtS };
  };
  return {
    hourly: hourly !== "off",
    quota,
    spend(installationId, repositories, nowMs) {
      const before = quota(installationId, repositories, nowMs);
      if (before === undefined) return undefined;
      if (before.remaining === 0)
        return {
          quota: before,
          refused: refusal(403, `API rate limit exceeded for installation ID ${installationId}.`, {
            page: ABOUT,
          }),
        };
      hourOf(installationId, Math.floor(nowMs / 1000)).used += 1;
      return {
        quota: { ...before, used: before.used + 1, remaining: before.remaining - 1 },
        refused: undefined,
      };
    },
    crowded: (inFlight, nowMs) =>
      secondary.concurrent !== undefined && inFlight > secondary.concurrent
        ? slowDown(secondary, nowMs)
        : undefined,
    mint(appId, nowMs) {
      if (secondary.mintsPerMinute === undefined) return undefined;
      const minute = Math.floor(nowMs / MINUTE_MS);
      const known = minutes.get(appId);
      const count = known !== undefined && known.minute === minute ? known : { minute, mints: 0 };
      minutes.set(appId, count);
      if (count.mints >= secondary.mintsPerMinute) return slowDown(secondary, nowMs);
      count.mints += 1;
      return undefined;
    },
  };
}

/** Rate limit headers. */
export function quotaHeaders(quota: Quota): Record<string, string> {
  return {
    "x-ratelimit-limit": String(quota.limit),
    "x-ratelimit-remaining": String(quota.remaining),
    "x-ratelimit-used": String(quota.used),
    "x-ratelimit-reset": String(quota.resetAtS),
    "x-ratelimit-resource": "core",
  };
}

function slowDown(secondary: SecondaryLimit, nowMs: number): Reply {
  const waitS = secondary.retryAfterS ?? 60;
  const headers: Record<string, string> =
    secondary.announce === "reset"
      ? {
          "x-ratelimit-remaining": "0",
          "x-ratelimit-reset": String(Math.floor(nowMs / 1000) + waitS),
        }
      : { "retry-after": String(waitS) };
  const message =
    "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";
  return refusal(secondary.status ?? 403, message, {
    page: `${ABOUT}#about-secondary-rate-limits`,
    headers,
  });
}
