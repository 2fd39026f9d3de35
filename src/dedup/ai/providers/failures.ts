/** Failures of the providers' client libraries in our own words: their texts may repeat a prompt. */
import type { TokenUsage } from "../prices.ts";
import { isTooLarge } from "./bounded-fetch.ts";
import type { ModelFailure } from "./types.ts";

const NO_TOKENS: TokenUsage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };
const MAX_RETRY_AFTER_MS = 60_000;
const RATE_LIMITED = "the provider's rate limit is reached";

/** What an attempt that threw means. `timedOut`: its deadline had passed. */
export function asModelFailure(thrown: unknown, timedOut: boolean): ModelFailure {
  if (timedOut)
    return failed(
      "timeout",
      "the provider did not answer in time; raise dedup.ai.timeout",
      "retry",
    );
  if (isTooLarge(thrown))
    return failed("schema_mismatch", "the provider's answer is too large", "document");
  const { status, code, headers } = partsOf(thrown);
  if (status === undefined)
    return failed("provider_error", "the provider cannot be reached; check its base_url", "retry");
  const retryAfterMs = readRetryAfter(headers);
  const delay = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === 429)
    return code === "insufficient_quota"
      ? failed("rate_limit", "the provider's quota is used up; check its billing", "run")
      : { ...failed("rate_limit", RATE_LIMITED, "retry"), ...delay };
  if (status === 401 || status === 403)
    return failed("provider_error", `the provider refused the API key (${status})`, "run");
  if (status === 404)
    return failed(
      "provider_error",
      "the provider does not know the model or the address (404)",
      "run",
    );
  if (status === 408 || status === 409 || status >= 500)
    return { ...failed("provider_error", `the provider failed (${status})`, "retry"), ...delay };
  const likely =
    status === 400
      ? "; check model, and whether it supports reasoningEffort (none leaves it out)"
      : "";
  return failed(
    "provider_error",
    `the provider refused the request (${status})${likely}`,
    "document",
  );
}

/**
 * A response of status 200 that says itself that it failed, with its error's code if any. One without
 * a code says nothing about the document, so it may pass.
 */
export function failedResponse(code: unknown, tokens: TokenUsage): ModelFailure {
  if (code === "rate_limit_exceeded") return failed("rate_limit", RATE_LIMITED, "retry", tokens);
  const named = typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? ` (${code})` : "";
  return typeof code !== "string" || code === "server_error"
    ? failed("provider_error", `the provider failed${named}`, "retry", tokens)
    : failed("provider_error", `the provider refused the request${named}`, "document", tokens);
}

export function failed(
  failure: ModelFailure["failure"],
  message: string,
  scope: ModelFailure["scope"],
  tokens: TokenUsage = NO_TOKENS,
): ModelFailure {
  return { failure, message, scope, ...tokens };
}

function partsOf(thrown: unknown): {
  readonly status: number | undefined;
  readonly code: unknown;
  readonly headers: unknown;
} {
  const { status, code, headers } = (thrown ?? {}) as Readonly<Record<string, unknown>>;
  return { status: typeof status === "number" ? status : undefined, code, headers };
}

/** Seconds, with a fraction perhaps; at most a minute. Dates are not used by these providers. */
function readRetryAfter(headers: unknown): number | undefined {
  if (!(headers instanceof Headers)) return undefined;
  const seconds = Number(headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0
    ? Math.min(MAX_RETRY_AFTER_MS, seconds * 1_000)
    : undefined;
}
