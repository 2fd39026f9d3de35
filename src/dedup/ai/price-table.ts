/**
 * Models that are known by name, with their list prices in US dollars per million tokens, without
 * discounts for cached or batched requests. From the price and model pages of OpenAI and Anthropic.
 */
import type { ProviderName } from "./keys.ts";

interface KnownModel {
  readonly provider: ProviderName;
  readonly id: string;
  readonly name: string;
  readonly inputUsdPerMillion: number;
  readonly outputUsdPerMillion: number;
  /** Whether a request may name a reasoning effort. */
  readonly takesEffort: boolean;
}

function model(
  provider: ProviderName,
  [id, name]: readonly [string, string],
  [inputUsdPerMillion, outputUsdPerMillion]: readonly [number, number],
  takesEffort = true,
): KnownModel {
  return { provider, id, name, inputUsdPerMillion, outputUsdPerMillion, takesEffort };
}

export const knownModels: readonly KnownModel[] = [
  model("openai", ["gpt-5.4", "GPT-5.4"], [2.5, 15]),
  model("openai", ["gpt-5.4-mini", "GPT-5.4 Mini"], [0.75, 4.5]),
  model("openai", ["gpt-5.4-nano", "GPT-5.4 Nano"], [0.2, 1.25]),
  model("anthropic", ["claude-opus-4-6", "Claude Opus 4.6"], [5, 25]),
  model("anthropic", ["claude-sonnet-4-6", "Claude Sonnet 4.6"], [3, 15]),
  model("anthropic", ["claude-haiku-4-5", "Claude Haiku 4.5"], [1, 5], false),
];

/** A dated snapshot (`gpt-5.4-2026-03-05`) is the model it is one of. */
export function knownModel(provider: ProviderName, model: string): KnownModel | undefined {
  return knownModels.find(
    (one) =>
      one.provider === provider &&
      (model === one.id || /^-?\d{4}-?\d{2}-?\d{2}$/.test(afterPrefix(model, one.id))),
  );
}

function afterPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : "";
}
