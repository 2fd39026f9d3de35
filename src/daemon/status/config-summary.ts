/**
 * The configuration as the status shows it: every key; of a secret only whether it is set and
 * where.
 */
import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  SecretSource,
  type ConfigSummarySchema,
  type ConfigValueSchema,
} from "../../gen/steward/monitor/v1/config_summary_pb.ts";
import type { Config, EffectiveRow } from "../../kernel/config/config.ts";
import { loggingLevel } from "../config/process-keys.ts";
import {
  otlpCloudToken,
  otlpExporter,
  otlpSignals,
  otlpSignalExporters,
} from "../../kernel/telemetry/config/otlp-keys.ts";
import { profiler } from "../config/profiling-keys.ts";
import { vpnAuth, type WrittenAuth } from "../../monitor/config/auth-fields.ts";
import { networks } from "../../monitor/config/network-keys.ts";
import { streaming, streamingRoutes } from "../../monitor/receivers/config/stream-keys.ts";
import { webhook, webhookRoutes } from "../../monitor/receivers/config/webhook-keys.ts";
import { headscale, provider, type ProviderKind } from "../../monitor/config/provider-keys.ts";

type Summary = MessageInitShape<typeof ConfigSummarySchema>;
type Value = MessageInitShape<typeof ConfigValueSchema>;

/** Without the checkpoint store and the running collectors, which only the monitor knows. */
export function configSummary(config: Config): Summary {
  const { auth, apiKey } = firstNetwork(config);
  return {
    schemaVersion: 1,
    apiKeySet: auth.apikey !== undefined || apiKey !== undefined,
    oauthSecretSet: auth.oauth.clientSecret !== undefined,
    streamTokenSet:
      config.get(streaming.token) !== undefined ||
      config.list(streamingRoutes).some(({ token }) => token !== undefined),
    webhookSecretSet:
      config.get(webhook.secret) !== undefined ||
      config.list(webhookRoutes).some(({ secret }) => secret !== undefined),
    backendCloudTokenSet: config.get(otlpCloudToken) !== undefined,
    profilerAuthSet: config.get(profiler.basicAuthPassword) !== undefined,
    // Headscale accepts only API keys.
    authMethod: firstProvider(config) === "headscale" ? "apikey" : auth.method,
    logLevel: config.get(loggingLevel),
    otlpHeaderKeys: headerKeys(config),
    full: Object.fromEntries(
      config.effective({ provenance: false }).map((row) => [row.key, valueOf(row)]),
    ),
  };
}

/** Control plane of the first network. */
export function firstProvider(config: Config): ProviderKind {
  return config.list(networks)[0]?.provider ?? config.get(provider);
}

function firstNetwork(config: Config): { readonly auth: WrittenAuth; readonly apiKey: unknown } {
  const [first] = config.list(networks);
  return first ?? { auth: vpnAuth(config), apiKey: config.get(headscale.apiKey) };
}

function headerKeys(config: Config): string[] {
  const names = [otlpExporter, ...otlpSignals.map((signal) => otlpSignalExporters[signal])].flatMap(
    ({ headers }) => [...config.get(headers).keys()],
  );
  return [...new Set(names)].toSorted();
}

const SOURCES = {
  unset: SecretSource.UNSET,
  value: SecretSource.VALUE,
  file: SecretSource.FILE,
} as const;

function valueOf({ value, secret, set, source }: EffectiveRow): Value {
  if (secret === true)
    return {
      secret,
      ...(set === undefined ? {} : { set }),
      ...(source === undefined ? {} : { source: SOURCES[source] }),
    };
  switch (typeof value) {
    case "undefined":
      return {};
    case "string":
      return { value: { kind: { case: "stringValue", value } } };
    case "boolean":
      return { value: { kind: { case: "boolValue", value } } };
    case "number":
      return { value: { kind: { case: "numberValue", value } } };
    default:
      return {
        value: {
          kind: {
            case: "listValue",
            value: {
              values: value.map((text) => ({ kind: { case: "stringValue", value: text } })),
            },
          },
        },
      };
  }
}
