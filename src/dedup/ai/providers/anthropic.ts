/** Anthropic's Messages API. */
import type { Secret } from "../../../kernel/base/secret.ts";
import { knownModel } from "../price-table.ts";
import { attempt, listing, type ProviderDeps } from "./attempt.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { failed } from "./failures.ts";
import type { AiProvider } from "./types.ts";

export interface AnthropicOptions {
  readonly baseUrl: string;
  readonly key: Secret;
}

/** Loads the client library. */
export async function createAnthropicProvider(
  deps: ProviderDeps,
  { baseUrl, key }: AnthropicOptions,
): Promise<AiProvider> {
  const { Anthropic } = await import("@anthropic-ai/sdk");
  const client = key.use(
    (apiKey) =>
      new Anthropic({
        apiKey,
        // What the environment holds for other programs does not count.
        authToken: null,
        baseURL: baseUrl,
        maxRetries: 0,
        timeout: deps.timeoutMs,
        logLevel: "off",
        fetch: boundedFetch,
      }),
  );
  return {
    ask: ({ model, system, user, schema, effort, outputTokens }, signal) =>
      attempt(deps, signal, async (limited) => {
        const message = await client.messages.create(
          {
            model,
            max_tokens: outputTokens,
            system: [{ type: "text", text: system, cache_control: { type: "ephemeral" } }],
            messages: [{ role: "user", content: user }],
            output_config: {
              format: { type: "json_schema", schema },
              ...(effort === "none" || knownModel("anthropic", model)?.takesEffort === false
                ? {}
                : { effort }),
            },
          },
          { signal: limited },
        );
        const { usage } = message;
        const tokens = {
          promptTokens:
            (usage?.input_tokens ?? 0) +
            (usage?.cache_read_input_tokens ?? 0) +
            (usage?.cache_creation_input_tokens ?? 0),
          completionTokens: usage?.output_tokens ?? 0,
          cachedTokens: usage?.cache_read_input_tokens ?? 0,
        };
        if (message.stop_reason === "max_tokens")
          return failed("max_tokens", "the answer is longer than allowed", "document", tokens);
        const texts = (message.content ?? []).flatMap((block) =>
          block.type === "text" ? [block.text] : [],
        );
        if (message.stop_reason === "refusal" || texts.length === 0)
          return failed("refusal", "the model refused", "document", tokens);
        return { text: texts.join(""), ...tokens };
      }),
    models: (signal) =>
      listing(deps, signal, async (limited) => {
        const page = await client.models.list({}, { signal: limited });
        return page.data.map(({ id, display_name: name }) => ({ id, name }));
      }),
  };
}
