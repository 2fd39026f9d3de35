/** Makes the configured provider; its client library is loaded when it is first used. */
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Config } from "../../../kernel/config/config.ts";
import {
  aiTimeout,
  anthropicKey,
  anthropicUrl,
  compatibleKey,
  compatibleUrl,
  openAiKey,
  openAiUrl,
  type ProviderName,
} from "../keys.ts";
import type { AiProvider } from "./types.ts";

export interface OpenProviderDeps {
  readonly config: Pick<Config, "get">;
  readonly clock: Clock;
}

const CREDENTIALS = { openai: openAiKey, anthropic: anthropicKey, compatible: compatibleKey };
const ADDRESSES = { openai: openAiUrl, anthropic: anthropicUrl, compatible: compatibleUrl };

export function hasCredential(config: Pick<Config, "get">, name: ProviderName): boolean {
  return config.get(CREDENTIALS[name]) !== undefined;
}

export function hasAddress(config: Pick<Config, "get">, name: ProviderName): boolean {
  return config.get(ADDRESSES[name]) !== "";
}

/** Throws `conflict` when the provider cannot be used as configured. */
export function checkProvider(config: Pick<Config, "get">, name: ProviderName): void {
  // Local servers need no key.
  if (name !== "compatible" && !hasCredential(config, name))
    throw missing(name, CREDENTIALS[name].path);
  if (!hasAddress(config, name)) throw missing(name, ADDRESSES[name].path);
}

export async function openProvider(
  { config, clock }: OpenProviderDeps,
  name: ProviderName,
): Promise<AiProvider> {
  checkProvider(config, name);
  const deps = { clock, timeoutMs: config.get(aiTimeout) };
  if (name === "anthropic") {
    const { createAnthropicProvider } = await import("./anthropic.ts");
    const key = config.get(anthropicKey);
    if (key === undefined) throw missing(name, anthropicKey.path);
    return await createAnthropicProvider(deps, { baseUrl: config.get(anthropicUrl), key });
  }
  const { createOpenAiProvider } = await import("./openai.ts");
  return await createOpenAiProvider(
    deps,
    name === "openai"
      ? { baseUrl: config.get(openAiUrl), key: config.get(openAiKey), api: "responses" }
      : { baseUrl: config.get(compatibleUrl), key: config.get(compatibleKey), api: "chat" },
  );
}

function missing(name: ProviderName, path: string): StewardError {
  return new StewardError("conflict", `the AI provider ${name} needs ${path}`, {
    remedy: `set ${path} in the configuration and restart, or choose another provider with PUT /api/v1/ai/config`,
  });
}
