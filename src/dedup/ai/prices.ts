/** What requests cost, by the shipped price table. */
import type { ProviderName } from "./keys.ts";
import { knownModel } from "./price-table.ts";

/** US dollars per token. */
export interface Price {
  readonly input: number;
  readonly output: number;
}

export interface TokenCounts {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** Tokens of requests as the provider counted them. */
export interface TokenUsage extends TokenCounts {
  /** Of the prompt's tokens those that the provider read from its cache. */
  readonly cachedTokens: number;
}

const MILLION = 1_000_000;

/**
 * The price of a model, undefined when it is not known. A compatible server may call a model by any
 * name, so its price is never known.
 */
export function priceOf(provider: ProviderName, model: string): Price | undefined {
  const known = knownModel(provider, model);
  return known === undefined
    ? undefined
    : { input: known.inputUsdPerMillion / MILLION, output: known.outputUsdPerMillion / MILLION };
}

export function costOf(price: Price, { promptTokens, completionTokens }: TokenCounts): number {
  return promptTokens * price.input + completionTokens * price.output;
}
