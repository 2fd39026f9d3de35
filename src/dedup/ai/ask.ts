/** One document's question with its retries. */
import { backoffMs } from "../../kernel/async/backoff.ts";
import { delay, type Clock } from "../../kernel/base/clock.ts";
import type { Pace } from "./pace.ts";
import type { TokenUsage } from "./prices.ts";
import type { AiProvider, ModelAnswer, ModelFailure, ModelRequest } from "./providers/types.ts";

const BACKOFF = { firstMs: 1_000, maxMs: 60_000 };
/** Rate limits of one document after which it fails: its text may be longer than the limit allows. */
const MAX_RATE_LIMITS = 8;
/** Nothing but rate limits for so long ends the run: the quota of a day may be used up. */
const MAX_LIMITED_MS = 600_000;
const LIMITED_MESSAGE = "the provider answered with nothing but rate limits for ten minutes";

export interface AskDeps {
  readonly provider: AiProvider;
  readonly clock: Clock;
  readonly pace: Pace;
  /** Attempts after the first one. Those that a rate limit refused do not count. */
  readonly maxRetries: number;
}

/** The last outcome, with the tokens of all attempts. */
export interface Asked extends TokenUsage {
  readonly outcome: ModelAnswer | ModelFailure;
  readonly requests: number;
}

/**
 * A failure that may pass is asked again, after the time that the provider names. Rejects only with
 * the signal's reason, which ends every wait.
 */
export async function ask(
  { provider, clock, pace, maxRetries }: AskDeps,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Asked> {
  let [promptTokens, completionTokens, cachedTokens] = [0, 0, 0];
  let [rateLimits, failures] = [0, 0];
  for (let requests = 1; ; requests++) {
    const startedMs = await pace.turn(signal);
    const outcome = await provider.ask(request, signal);
    promptTokens += outcome.promptTokens;
    completionTokens += outcome.completionTokens;
    cachedTokens += outcome.cachedTokens;
    const asked = { outcome, promptTokens, completionTokens, cachedTokens, requests };
    if (!("failure" in outcome) || outcome.scope !== "retry") {
      pace.answered();
      return asked;
    }
    if (outcome.failure === "rate_limit") {
      pace.limited(startedMs, outcome.retryAfterMs);
      if (pace.limitedForMs() >= MAX_LIMITED_MS)
        return { ...asked, outcome: { ...outcome, scope: "run", message: LIMITED_MESSAGE } };
      if (++rateLimits >= MAX_RATE_LIMITS) return asked;
    } else {
      if (++failures > maxRetries) return asked;
      await delay(clock, outcome.retryAfterMs ?? backoffMs(failures, BACKOFF), signal);
    }
  }
}
