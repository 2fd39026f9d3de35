/** What every provider of language models offers. */
import type { TokenUsage } from "../prices.ts";
import type { ReasoningEffort } from "../keys.ts";

/** One question. The answer is JSON that matches `schema`. */
export interface ModelRequest {
  readonly model: string;
  readonly system: string;
  readonly user: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly effort: ReasoningEffort;
  /** Maximum number of tokens of the answer, reasoning included. */
  readonly outputTokens: number;
}

type FailureType =
  | "refusal"
  | "schema_mismatch"
  | "timeout"
  | "max_tokens"
  | "rate_limit"
  | "provider_error";

/** Why there is no answer. Never contains text of a document, or of the provider. */
export interface ModelFailure extends TokenUsage {
  readonly failure: FailureType;
  readonly message: string;
  /** `retry`: another attempt may succeed; `document`: not for this one; `run`: for none. */
  readonly scope: "retry" | "document" | "run";
  readonly retryAfterMs?: number;
}

export interface ModelAnswer extends TokenUsage {
  readonly text: string;
}

export interface ModelName {
  readonly id: string;
  readonly name: string;
}

/** A provider of language models. */
export interface AiProvider {
  /** One attempt, never retried here. Rejects only when the signal fires. */
  ask(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer | ModelFailure>;
  /** The models that the server offers. Throws `upstream`. */
  models(signal: AbortSignal): Promise<ModelName[]>;
}
