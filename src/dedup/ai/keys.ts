/**
 * Configuration of AI suggestions: credentials and addresses for the operator, and settings that
 * the API may change while the process runs.
 */
import { defineKey, type Key, type Schema } from "../../kernel/config/key.ts";
import type { Complaint } from "../../kernel/config/findings.ts";
import { atMost, baseUrl, noBlank, optionally, timer } from "../../kernel/config/checks/rules.ts";
import {
  boolean,
  decimal,
  duration,
  integer,
  listOf,
  oneOf,
  secret,
  string,
  text,
  type KeyType,
} from "../../kernel/config/values/types.ts";
import type { ReadSetting } from "../../kernel/settings/types.ts";

/** What the paths of all keys begin with. */
export const AI_SCOPE = "dedup.ai";

export const providerNames = ["openai", "anthropic", "compatible"] as const;
export type ProviderName = (typeof providerNames)[number];

const reasoningEfforts = ["none", "low", "medium", "high"] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

export const tagModes = ["merge", "replace"] as const;

export const aiEnabled = defineKey({
  path: `${AI_SCOPE}.enabled`,
  type: boolean,
  default: false,
  env: "AI_ENABLED",
  help: "Suggests correspondents, document types and tags with a language model. Texts of documents are sent to the configured provider when a run is started.",
});

export const aiTimeout = defineKey({
  path: `${AI_SCOPE}.timeout`,
  type: duration,
  default: 60_000,
  rule: timer,
  help: "Timeout of one request to the provider. Local models may need minutes.",
});

export const openAiKey = defineKey({
  path: `${AI_SCOPE}.openai.api_key`,
  type: secret,
  default: undefined,
  secret: true,
  env: "AI_OPENAI_API_KEY",
  help: "API key of OpenAI.",
});

export const openAiUrl = defineKey({
  path: `${AI_SCOPE}.openai.base_url`,
  type: text,
  default: "https://api.openai.com/v1",
  rule: baseUrl,
  help: "Address of OpenAI's API, version included.",
});

export const anthropicKey = defineKey({
  path: `${AI_SCOPE}.anthropic.api_key`,
  type: secret,
  default: undefined,
  secret: true,
  help: "API key of Anthropic.",
});

export const anthropicUrl = defineKey({
  path: `${AI_SCOPE}.anthropic.base_url`,
  type: text,
  default: "https://api.anthropic.com",
  rule: baseUrl,
  help: "Address of Anthropic's API, without the version.",
});

export const compatibleKey = defineKey({
  path: `${AI_SCOPE}.compatible.api_key`,
  type: secret,
  default: undefined,
  secret: true,
  help: "API key of the server with OpenAI's API; local servers need none.",
});

export const compatibleUrl = defineKey({
  path: `${AI_SCOPE}.compatible.base_url`,
  type: text,
  default: "",
  rule: optionally(baseUrl),
  help: "Address of a server with OpenAI's chat API, version included, e.g. http://127.0.0.1:11434/v1 for Ollama.",
});

/** The settings by the names that the API gives them. */
export const aiSettings = {
  provider: setting<ProviderName>("provider", oneOf(providerNames), "openai", {
    help: "Provider of the language model: openai, anthropic, or compatible for any server with OpenAI's chat API.",
  }),
  model: setting("model", string, "gpt-5.4-mini", {
    rule: atMost(200, "characters"),
    help: "Model of the provider.",
  }),
  maxContentLength: setting("maxContentLength", integer(500, 100_000), 8_000, {
    help: "Number of characters of a document's text that are sent.",
  }),
  batchSize: setting("batchSize", integer(1, 500), 100, {
    help: "Maximum number of requests in flight.",
  }),
  rateDelayMs: setting("rateDelayMs", integer(0, 60_000), 0, {
    help: "Milliseconds between the starts of two requests.",
  }),
  includeCorrespondents: setting("includeCorrespondents", boolean, false, {
    help: "Sends the names of existing correspondents to the model.",
  }),
  includeDocumentTypes: setting("includeDocumentTypes", boolean, false, {
    help: "Sends the names of existing document types to the model.",
  }),
  includeTags: setting("includeTags", boolean, false, {
    help: "Sends the names of existing tags to the model.",
  }),
  reasoningEffort: setting<ReasoningEffort>("reasoningEffort", oneOf(reasoningEfforts), "low", {
    help: "Reasoning effort of the model; none leaves it out of the request.",
  }),
  maxRetries: setting("maxRetries", integer(0, 20), 3, {
    help: "Attempts after the first one for a document.",
  }),
  extractTitle: setting("extractTitle", boolean, false, {
    help: "Also asks for a title, which is applied only where a request names it.",
  }),
  tagMode: setting<(typeof tagModes)[number]>("tagMode", oneOf(tagModes), "merge", {
    help: "merge keeps the tags of a document when suggestions are applied; replace removes those that were not suggested.",
  }),
  protectedTagNames: setting<readonly string[]>("protectedTagNames", listOf(string), [], {
    rule: (names) => noBlank(names) ?? atMost(100, "entries")(names),
    help: "Tags that are never added to a document and never removed from it.",
  }),
  maxCostPerRunUsd: setting("maxCostPerRunUsd", decimal(0, 1_000_000), 0, {
    help: "A run stops before its requests cost more, in US dollars; 0 is no limit.",
  }),
  maxCostPerMonthUsd: setting("maxCostPerMonthUsd", decimal(0, 1_000_000), 0, {
    help: "Runs stop before the requests of a calendar month (UTC) cost more, in US dollars; 0 is no limit.",
  }),
} as const;

type AiSettingName = keyof typeof aiSettings;

/** The values of all settings. */
export type AiSettings = {
  readonly [N in AiSettingName]: (typeof aiSettings)[N] extends Key<infer T> ? T : never;
};

export const aiKeys: Schema = [
  aiEnabled,
  aiTimeout,
  openAiKey,
  openAiUrl,
  anthropicKey,
  anthropicUrl,
  compatibleKey,
  compatibleUrl,
  ...Object.values(aiSettings),
];

export function readAiSettings(get: ReadSetting): AiSettings {
  return Object.fromEntries(
    Object.entries(aiSettings).map(([name, key]) => [name, get(key as Key<unknown>)]),
  ) as AiSettings;
}

/** `rateDelayMs` as it stands in the file: `rate_delay_ms`. */
export function leafOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function setting<T>(
  name: string,
  type: KeyType<T>,
  initial: T,
  options: { readonly help: string; readonly rule?: (value: T) => Complaint | undefined },
): Key<T> {
  return defineKey({
    path: `${AI_SCOPE}.${leafOf(name)}`,
    type,
    default: initial,
    owner: "runtime",
    ...options,
  });
}
