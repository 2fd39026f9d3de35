/** OpenAI's Responses API, and the chat API that compatible servers have. */
import type OpenAI from "openai";
import type { Secret } from "../../../kernel/base/secret.ts";
import type { TokenUsage } from "../prices.ts";
import { attempt, listing, type ProviderDeps } from "./attempt.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { failed, failedResponse } from "./failures.ts";
import type { AiProvider, ModelAnswer, ModelFailure, ModelRequest } from "./types.ts";

export interface OpenAiOptions {
  readonly baseUrl: string;
  readonly key: Secret | undefined;
  /** `responses` is OpenAI's own; compatible servers have `chat`. */
  readonly api: "responses" | "chat";
}

/** Loads the client library. */
export async function createOpenAiProvider(
  deps: ProviderDeps,
  { baseUrl, key, api }: OpenAiOptions,
): Promise<AiProvider> {
  const { OpenAI: Client } = await import("openai");
  const create = (apiKey: string): OpenAI =>
    new Client({
      apiKey,
      baseURL: baseUrl,
      // What the environment holds for other programs does not count.
      organization: null,
      project: null,
      adminAPIKey: null,
      webhookSecret: null,
      maxRetries: 0,
      timeout: deps.timeoutMs,
      logLevel: "off",
      fetch: boundedFetch,
    });
  // The library needs a key; servers without one ignore it.
  const client = key === undefined ? create("none") : key.use(create);
  return {
    ask: (request, signal) =>
      attempt(deps, signal, (limited) =>
        api === "responses" ? respond(client, request, limited) : chat(client, request, limited),
      ),
    models: (signal) =>
      listing(deps, signal, async (limited) => {
        const page = await client.models.list({ signal: limited });
        return page.data.map(({ id }) => ({ id, name: id }));
      }),
  };
}

async function respond(
  client: OpenAI,
  { model, system, user, schema, effort, outputTokens }: ModelRequest,
  signal: AbortSignal,
): Promise<ModelAnswer | ModelFailure> {
  const response = await client.responses.create(
    {
      model,
      input: [
        { role: "developer", content: system },
        { role: "user", content: user },
      ],
      text: { format: { type: "json_schema", name: SCHEMA_NAME, strict: true, schema } },
      max_output_tokens: outputTokens,
      store: false,
      ...(effort === "none" ? {} : { reasoning: { effort } }),
    },
    { signal },
  );
  const tokens = {
    promptTokens: response.usage?.input_tokens ?? 0,
    completionTokens: response.usage?.output_tokens ?? 0,
    cachedTokens: response.usage?.input_tokens_details?.cached_tokens ?? 0,
  };
  if (response.status === "failed") return failedResponse(response.error?.code, tokens);
  // Nobody here cancels: it was the provider's own doing.
  if (response.status === "cancelled")
    return failed("provider_error", "the provider cancelled the response", "retry", tokens);
  if (response.status === "incomplete")
    return response.incomplete_details?.reason === "max_output_tokens"
      ? cutShort(tokens)
      : failed("refusal", "the provider withheld the answer", "document", tokens);
  const parts = (response.output ?? []).flatMap((item) =>
    item.type === "message" ? item.content : [],
  );
  if (parts.some(({ type }) => type === "refusal"))
    return failed("refusal", "the model refused", "document", tokens);
  const text = parts.map((part) => (part.type === "output_text" ? part.text : "")).join("");
  return { text, ...tokens };
}

async function chat(
  client: OpenAI,
  { model, system, user, schema, effort, outputTokens }: ModelRequest,
  signal: AbortSignal,
): Promise<ModelAnswer | ModelFailure> {
  const completion = await client.chat.completions.create(
    {
      model,
      messages: [
        { role: "system", content: system },
        { role: "user", content: user },
      ],
      response_format: {
        type: "json_schema",
        json_schema: { name: SCHEMA_NAME, strict: true, schema },
      },
      max_tokens: outputTokens,
      ...(effort === "none" ? {} : { reasoning_effort: effort }),
    },
    { signal },
  );
  const tokens = {
    promptTokens: completion.usage?.prompt_tokens ?? 0,
    completionTokens: completion.usage?.completion_tokens ?? 0,
    cachedTokens: completion.usage?.prompt_tokens_details?.cached_tokens ?? 0,
  };
  const [choice] = completion.choices ?? [];
  if (choice?.finish_reason === "length") return cutShort(tokens);
  if (choice?.finish_reason === "content_filter" || choice?.message.refusal)
    return failed("refusal", "the model refused", "document", tokens);
  return { text: choice?.message.content ?? "", ...tokens };
}

const SCHEMA_NAME = "document_classification";

function cutShort(tokens: TokenUsage): ModelFailure {
  return failed("max_tokens", "the answer is longer than allowed", "document", tokens);
}
