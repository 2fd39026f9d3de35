/** One document's question with its retries. */
import { backoffMs } from "../../kernel/async/backoff.ts";
import { delay, type Clock } from "../../kernel/base/clock.ts";
import type { TokenUsage } from "./prices.ts";
import type { AiProvider, ModelAnswer, ModelFailure, ModelRequest } from "./providers/types.ts";

const BACKOFF = { firstMs: 1_000, maxMs: 60_000 };
/** Longest wait after a rate limit without a time. */
const RATE_LIMIT_MS = 5_000;

/** When the next request of a run may start; shared by all its documents. */
export interface Pace {
  /** Waits for its turn. */
  turn(signal: AbortSignal): Promise<void>;
  /** No request starts before this time has passed. */
  pause(ms: number): void;
  /** Pauses so far. */
  readonly pauses: number;
}

export function createPace(clock: Clock, intervalMs: number): Pace {
  let nextMs = clock.monotonic();
  let pauses = 0;
  return {
    async turn(signal) {
      for (;;) {
        const now = clock.monotonic();
        if (now >= nextMs) break;
        await delay(clock, nextMs - now, signal);
      }
      nextMs = clock.monotonic() + intervalMs;
    },
    pause(ms) {
      pauses += 1;
      nextMs = Math.max(nextMs, clock.monotonic() + ms);
    },
    get pauses() {
      return pauses;
    },
  };
}

export interface AskDeps {
  readonly provider: AiProvider;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly maxRetries: number;
}

/** The last outcome, with the tokens of all attempts. */
export interface Asked extends TokenUsage {
  readonly outcome: ModelAnswer | ModelFailure;
  readonly requests: number;
}

/** A failure that may pass is asked again, after the time that the provider names. */
export async function ask(
  { provider, clock, pace, maxRetries }: AskDeps,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<Asked> {
  let [promptTokens, completionTokens, cachedTokens] = [0, 0, 0];
  for (let attempt = 1; ; attempt++) {
    await pace.turn(signal);
    const outcome = await provider.ask(request, signal);
    promptTokens += outcome.promptTokens;
    completionTokens += outcome.completionTokens;
    cachedTokens += outcome.cachedTokens;
    const isOver = !("failure" in outcome) || outcome.scope !== "retry" || attempt > maxRetries;
    if ("failure" in outcome && outcome.failure === "rate_limit")
      pace.pause(outcome.retryAfterMs ?? RATE_LIMIT_MS);
    if (isOver) return { outcome, promptTokens, completionTokens, cachedTokens, requests: attempt };
    if (outcome.failure !== "rate_limit")
      await delay(clock, outcome.retryAfterMs ?? backoffMs(attempt, BACKOFF), signal);
  }
}
