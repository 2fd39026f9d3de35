/** Keys of OTLP export. `otlp-options.ts` resolves them per signal. */
import type { Secret } from "../../base/secret.ts";
import { defineKey, type Fallback, type Key, type Schema } from "../../config/key.ts";
import { mapOfSecrets } from "../../config/values/maps.ts";
import { timer } from "../../config/checks/rules.ts";
import {
  boolean,
  byteCount,
  duration,
  integer,
  oneOf,
  path,
  secret,
  text,
} from "../../config/values/types.ts";

/** http is OTLP over HTTP with protobuf; stdout writes lines of JSON. */
export type OtlpProtocol = "http" | "grpc" | "stdout";
export type OtlpSignal = "metrics" | "logs" | "traces";

/** The signals, each with its own keys below `otlp`. */
export const otlpSignals: readonly OtlpSignal[] = ["metrics", "logs", "traces"];

/**
 * Keys that exist both below `otlp` and below each signal. Undefined inherits; below `otlp` it
 * means the exporter's default.
 */
export interface OtlpExporterKeys {
  readonly protocol: Key<OtlpProtocol | undefined>;
  readonly endpoint: Key<string>;
  readonly headers: Key<ReadonlyMap<string, Secret>>;
  readonly compression: Key<"gzip" | "none" | undefined>;
  readonly timeout: Key<number>;
  readonly maxRequestSize: Key<number>;
  readonly grpcReconnection: Key<number>;
  readonly insecure: Key<boolean | undefined>;
  readonly skipVerify: Key<boolean | undefined>;
  readonly caFile: Key<string>;
  readonly certFile: Key<string>;
  readonly keyFile: Key<string>;
  readonly retryEnabled: Key<boolean | undefined>;
  readonly retryInitial: Key<number | undefined>;
  readonly retryMax: Key<number | undefined>;
  readonly retryElapsed: Key<number | undefined>;
}

/** Keys of the queue in front of an exporter; 0 means the default. */
export interface OtlpBatchKeys {
  readonly maxQueueSize: Key<number>;
  readonly maxBatchSize: Key<number>;
  readonly interval: Key<number>;
  readonly timeout: Key<number>;
}

/** Translates values of OpenTelemetry's own variables. */
const otelValues = {
  protocol: (value: string): string | undefined =>
    ({ grpc: "grpc", "http/protobuf": "http" })[value.toLowerCase()],
  milliseconds: (value: string): string | undefined =>
    /^\d+$/.test(value) ? `${value}ms` : undefined,
} as const;

/** The shared keys: below `otlp` with their defaults, below a signal as overrides. */
export const otlpExporter: OtlpExporterKeys = exporterKeys("otlp", "");
/** The keys of each signal. */
export const otlpSignalExporters: Readonly<Record<OtlpSignal, OtlpExporterKeys>> = {
  metrics: exporterKeys("otlp.metrics", "METRICS_"),
  logs: exporterKeys("otlp.logs", "LOGS_"),
  traces: exporterKeys("otlp.traces", "TRACES_"),
};

const signalEnabled = (signal: OtlpSignal, more = ""): Key<boolean> =>
  defineKey({
    path: `otlp.${signal}.enabled`,
    type: boolean,
    default: true,
    help: `Exports ${signal}${more}.`,
  });
export const otlpSignalEnabled: Readonly<Record<OtlpSignal, Key<boolean>>> = {
  metrics: signalEnabled("metrics"),
  logs: signalEnabled("logs", ": every line that is also written to standard error"),
  traces: signalEnabled("traces", "; there are none unless tracing.enabled is true"),
};

export const otlpBatch: Readonly<Record<"logs" | "traces", OtlpBatchKeys>> = {
  logs: batchKeys("logs", "OTEL_BLRP", "1s"),
  traces: batchKeys("traces", "OTEL_BSP", "5s"),
};

export const otlpMetricInterval = defineKey({
  path: "otlp.metric_interval",
  type: duration,
  default: 60_000,
  rule: timer,
  fallbacks: [otel("OTEL_METRIC_EXPORT_INTERVAL", otelValues.milliseconds)],
  help: "Time between exports of metrics.",
});
export const otlpMetricBatchSize = defineKey({
  path: "otlp.metric_export_batch_size",
  type: integer(1, 1_000_000),
  default: 5_000,
  help: "Maximum data points in one request; larger exports are split. 5000 stay below the 4 MiB that a gRPC receiver accepts by default.",
});
export const otlpStdoutInterval = defineKey({
  path: "otlp.stdout.metric_interval",
  type: duration,
  default: 5_000,
  rule: timer,
  help: "Time between exports of metrics with protocol stdout, instead of otlp.metric_interval.",
});
export const otlpStdoutPretty = defineKey({
  path: "otlp.stdout.pretty",
  type: boolean,
  default: false,
  help: "Writes indented JSON with protocol stdout.",
});
export const otlpReloadEnabled = defineKey({
  path: "otlp.credential_reload.enabled",
  type: boolean,
  default: false,
  help: "Reloads the files of headers, tokens and certificates while Steward runs; when a file cannot be used, the last good value stays in use.",
});
export const otlpReloadInterval = defineKey({
  path: "otlp.credential_reload.interval",
  type: duration,
  default: 30_000,
  rule: timer,
  help: "Time between checks of those files, at least 5s.",
});
export const otlpLogBodyBytes = defineKey({
  path: "otlp.limits.log_body_bytes",
  type: integer(64, 2 ** 20),
  default: 32_768,
  help: "Maximum size of a log body; longer bodies are truncated before export.",
});
export const otlpLogAttributeBytes = defineKey({
  path: "otlp.limits.log_attribute_value_bytes",
  type: integer(64, 2 ** 20),
  default: 4_096,
  help: "Maximum size of an attribute value of a log record; longer values are truncated before export.",
});
export const otlpCloudInstance = defineKey({
  path: "otlp.backend_cloud.instance_id",
  type: text,
  default: "",
  help: "HTTP Basic user for a hosted backend.",
});
export const otlpCloudToken = defineKey({
  path: "otlp.backend_cloud.token",
  type: secret,
  default: undefined,
  secret: true,
  help: "HTTP Basic password for a hosted backend.",
});

export const otlpKeys: Schema = [
  ...rows(otlpExporter),
  otlpMetricInterval,
  otlpMetricBatchSize,
  otlpStdoutInterval,
  otlpStdoutPretty,
  otlpReloadEnabled,
  otlpReloadInterval,
  otlpLogBodyBytes,
  otlpLogAttributeBytes,
  otlpCloudInstance,
  otlpCloudToken,
  ...rows(otlpBatch.logs),
  ...rows(otlpBatch.traces),
  ...otlpSignals.flatMap((signal) => [
    otlpSignalEnabled[signal],
    ...rows(otlpSignalExporters[signal]),
  ]),
];

function rows(keys: OtlpExporterKeys | OtlpBatchKeys): Schema {
  return Object.values(keys) as readonly Key<unknown>[];
}

function exporterKeys(base: string, infix: string): OtlpExporterKeys {
  const own = infix === "";
  const or = own ? "" : " Unset: the value below otlp.";
  const vendor = (
    name: string,
    translate?: Fallback["translate"],
  ): { readonly fallbacks: readonly Fallback[] } => ({
    fallbacks: [otel(`OTEL_EXPORTER_OTLP_${infix}${name}`, translate)],
  });
  return {
    protocol: defineKey<OtlpProtocol | undefined>({
      path: `${base}.protocol`,
      type: oneOf(["http", "grpc", "stdout"]),
      default: own ? "http" : undefined,
      ...vendor("PROTOCOL", otelValues.protocol),
      help: `How to export: http is OTLP over HTTP with protobuf; stdout writes JSON to standard output and needs no endpoint.${or}`,
    }),
    endpoint: defineKey({
      path: `${base}.endpoint`,
      type: text,
      default: "",
      ...vendor("ENDPOINT"),
      help: own
        ? "Where to export to: http://host:4318 for http, host:4317 for grpc. Empty: nothing is exported."
        : `Overrides the endpoint for this signal.${or}`,
    }),
    headers: defineKey({
      path: `${base}.headers`,
      type: mapOfSecrets({ limit: 64 }),
      default: new Map(),
      ...vendor("HEADERS"),
      help: own
        ? "Headers of each request; their values are secret."
        : "Overrides the headers for this signal.",
    }),
    compression: defineKey<"gzip" | "none" | undefined>({
      path: `${base}.compression`,
      type: oneOf(["gzip", "none"]),
      default: undefined,
      ...vendor("COMPRESSION"),
      help: own
        ? "Compression of requests. Unset: none."
        : `Overrides the compression for this signal.${or}`,
    }),
    timeout: defineKey({
      path: `${base}.timeout`,
      type: duration,
      default: 0,
      ...vendor("TIMEOUT", otelValues.milliseconds),
      help: own
        ? "Timeout of one export; 0 is the exporter's default, 10s."
        : "Timeout of one export. 0: the value below otlp.",
    }),
    maxRequestSize: defineKey({
      path: `${base}.max_request_size`,
      type: byteCount(0, 2 ** 30),
      default: 0,
      help: own
        ? "Maximum size of a request; larger ones are not sent. 0 is no limit."
        : "Overrides the limit for this signal. 0: the value below otlp.",
    }),
    grpcReconnection: defineKey({
      path: `${base}.grpc_reconnection_period`,
      type: duration,
      default: 0,
      help: own
        ? "Maximum age of a gRPC connection; a new one is opened after it, so that a load balancer can move it. 0 keeps the connection."
        : "Overrides the period for this signal. 0: the value below otlp.",
    }),
    insecure: defineKey<boolean | undefined>({
      path: `${base}.tls.insecure`,
      type: boolean,
      default: own ? false : undefined,
      ...vendor("INSECURE"),
      help: `Uses gRPC without TLS.${or}`,
    }),
    skipVerify: defineKey<boolean | undefined>({
      path: `${base}.tls.insecure_skip_verify`,
      type: boolean,
      default: own ? false : undefined,
      help: `Accepts any certificate of the receiver.${or}`,
    }),
    caFile: defineKey({
      path: `${base}.tls.ca_file`,
      type: path,
      default: "",
      ...vendor("CERTIFICATE"),
      help: `PEM file of the CA certificates that the receiver's certificate is verified against.${or}`,
    }),
    certFile: defineKey({
      path: `${base}.tls.cert_file`,
      type: path,
      default: "",
      ...vendor("CLIENT_CERTIFICATE"),
      help: `PEM client certificate.${or}`,
    }),
    keyFile: defineKey({
      path: `${base}.tls.key_file`,
      type: path,
      default: "",
      ...vendor("CLIENT_KEY"),
      help: `PEM key of the client certificate.${or}`,
    }),
    ...retryKeys(base, own),
  };
}

function retryKeys(
  base: string,
  own: boolean,
): Pick<OtlpExporterKeys, "retryEnabled" | "retryInitial" | "retryMax" | "retryElapsed"> {
  const or = own
    ? ""
    : " Unset or 0: the value below otlp. Setting one key of this group replaces the whole group.";
  const wait = (name: string, ms: number, help: string): Key<number | undefined> =>
    defineKey<number | undefined>({
      path: `${base}.retry.${name}`,
      type: duration,
      default: own ? ms : undefined,
      help: `${help}${or}`,
    });
  return {
    retryEnabled: defineKey<boolean | undefined>({
      path: `${base}.retry.enabled`,
      type: boolean,
      default: own ? true : undefined,
      help: `Retries exports that failed with a temporary error.${or}`,
    }),
    retryInitial: wait("initial_interval", 5000, "Wait before the first retry."),
    retryMax: wait("max_interval", 30_000, "Maximum wait between retries."),
    retryElapsed: wait("max_elapsed_time", 60_000, "Time after which retrying stops."),
  };
}

function batchKeys(signal: "logs" | "traces", vendor: string, interval: string): OtlpBatchKeys {
  const base = `otlp.batch.${signal}`;
  const what = { logs: "log records", traces: "spans" }[signal];
  const count = (name: string, variable: string, help: string): Key<number> =>
    defineKey({
      path: `${base}.${name}`,
      type: integer(0, 100_000),
      default: 0,
      fallbacks: [otel(`${vendor}_${variable}`)],
      help,
    });
  return {
    maxQueueSize: count(
      "max_queue_size",
      "MAX_QUEUE_SIZE",
      `Maximum ${what} waiting for export; more are dropped and counted. 0: 2048.`,
    ),
    maxBatchSize: count(
      "export_max_batch_size",
      "MAX_EXPORT_BATCH_SIZE",
      `Maximum ${what} in one request. 0: 512.`,
    ),
    interval: defineKey({
      path: `${base}.export_interval`,
      type: duration,
      default: 0,
      fallbacks: [otel(`${vendor}_SCHEDULE_DELAY`, otelValues.milliseconds)],
      help: `Time between exports of ${what}. 0: ${interval}.`,
    }),
    timeout: defineKey({
      path: `${base}.export_timeout`,
      type: duration,
      default: 0,
      fallbacks: [otel(`${vendor}_EXPORT_TIMEOUT`, otelValues.milliseconds)],
      help: `Timeout of exporting a batch of ${what}, retries included. 0: 30s.`,
    }),
  };
}

function otel(variable: string, translate?: Fallback["translate"]): Fallback {
  return { variable, ...(translate === undefined ? {} : { translate }) };
}
