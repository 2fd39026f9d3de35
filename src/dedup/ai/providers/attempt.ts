/** One call of a provider's client library: its deadline, and what a failure means. */
import { withDeadline } from "../../../kernel/async/deadline.ts";
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { asModelFailure } from "./failures.ts";
import type { ModelAnswer, ModelFailure, ModelName } from "./types.ts";

export interface ProviderDeps {
  readonly clock: Clock;
  /** Of one attempt, headers and body. */
  readonly timeoutMs: number;
}

const MAX_MODELS = 1_000;

/** Turns whatever is thrown into a failure; only the caller's own signal rejects. */
export async function attempt(
  { clock, timeoutMs }: ProviderDeps,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<ModelAnswer | ModelFailure>,
): Promise<ModelAnswer | ModelFailure> {
  let timedOut = false;
  const reason = (): Error => {
    timedOut = true;
    return new StewardError("deadline", "the provider did not answer in time");
  };
  try {
    return await withDeadline({ clock, timeoutMs, signal, reason }, work);
  } catch (thrown) {
    signal.throwIfAborted();
    return asModelFailure(thrown, timedOut);
  }
}

/** The models that a server lists. */
export async function listing(
  { clock, timeoutMs }: ProviderDeps,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<ModelName[]>,
): Promise<ModelName[]> {
  let timedOut = false;
  const reason = (): Error => {
    timedOut = true;
    return new StewardError("deadline", "the provider did not answer in time");
  };
  try {
    const models = await withDeadline({ clock, timeoutMs, signal, reason }, work);
    return models.slice(0, MAX_MODELS);
  } catch (thrown) {
    signal.throwIfAborted();
    const { message } = asModelFailure(thrown, timedOut);
    throw new StewardError("upstream", `listing models: ${message}`, {
      remedy: "check the provider's address and key below dedup.ai in the configuration",
    });
  }
}
