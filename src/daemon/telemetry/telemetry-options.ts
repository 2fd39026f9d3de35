/**
 * Telemetry options from the configuration: exporters with their credentials, and the pull
 * endpoint.
 */
import { readFileSync } from "node:fs";
import { Secret } from "../../kernel/base/secret.ts";
import type { Config } from "../../kernel/config/config.ts";
import type { Environment } from "../../kernel/config/key.ts";
import {
  otlpLogAttributeBytes,
  otlpLogBodyBytes,
  otlpMetricBatchSize,
} from "../../kernel/telemetry/config/otlp-keys.ts";
import type { OtlpSignal } from "../../kernel/telemetry/config/otlp-keys.ts";
import {
  batchSettings,
  credentialReloadMs,
  exporterOptions,
  metricIntervalMs,
  stdoutOptions,
} from "../../kernel/telemetry/config/otlp-options.ts";
import type { ExporterOptions } from "../../kernel/telemetry/config/otlp-options.ts";
import { scrapeOptions } from "../../kernel/telemetry/config/scrape-keys.ts";
import { tracingEnabled } from "../../kernel/telemetry/config/tracing-keys.ts";
import { secretFile } from "../../kernel/config/values/types.ts";
import { resourceAttributes } from "../../kernel/telemetry/config/resource-keys.ts";
import { processIdentity, processResource } from "../../kernel/telemetry/resource.ts";
import type { ScopeSpec } from "../../kernel/telemetry/types.ts";
import { cardinality } from "../../monitor/config/cardinality-keys.ts";
import { privacy } from "../../monitor/config/privacy-keys.ts";
import { selfObservability } from "../../monitor/config/upkeep-keys.ts";
import type {
  OtlpTarget,
  PullOptions,
  ReloadOptions,
  TelemetryOptions,
} from "../../kernel/telemetry/options.ts";

/** Throws when a certificate file cannot be read. `pull`: whether `/api/v1/metrics` is served. */
export function telemetryOptions(config: Config, pull: boolean): TelemetryOptions {
  const metrics = targetOf(config, "metrics");
  const logs = targetOf(config, "logs");
  const traces = config.get(tracingEnabled) ? targetOf(config, "traces") : undefined;
  const scrape = pullOf(config);
  return {
    pull,
    ...(metrics === undefined
      ? {}
      : {
          metrics: {
            ...metrics,
            intervalMs: metricIntervalMs(config),
            batchSize: config.get(otlpMetricBatchSize),
          },
        }),
    ...(logs === undefined
      ? {}
      : {
          logs: {
            ...logs,
            ...batchSettings(config, "logs"),
            limits: {
              body: config.get(otlpLogBodyBytes),
              attribute: config.get(otlpLogAttributeBytes),
            },
          },
        }),
    ...(traces === undefined ? {} : { traces: { ...traces, ...batchSettings(config, "traces") } }),
    ...(scrape === undefined ? {} : { scrape }),
  };
}

/** The scope of the process itself, as opposed to one network's. */
export function processScope(
  config: Config,
  { version, environment }: { readonly version: string; readonly environment: Environment },
): ScopeSpec {
  const instanceId = config.get(selfObservability.instanceId);
  return {
    name: "process",
    logResource: processIdentity(),
    constants: {},
    resource: processResource({
      version,
      hostnames: config.get(privacy.hostnames),
      attributes: resourceAttributes(config, environment),
      ...(instanceId === "" ? {} : { instanceId }),
    }),
    limits: {
      perMetric: config.get(cardinality.metricLimit),
      labelValues: config.get(cardinality.labelValueSampleCap),
    },
  };
}

/** Whether the process exports metrics about itself: runtime, series, delivery, components. */
export function exportsSelfMetrics(config: Config): boolean {
  return config.get(selfObservability.enabled);
}

function targetOf(config: Config, signal: OtlpSignal): OtlpTarget | undefined {
  const output = stdoutOptions(config, signal);
  if (output !== undefined) return { protocol: "stdout", endpoint: "", pretty: output.pretty };
  const options = exporterOptions(config, signal);
  return options && networkTarget(options, credentialReloadMs(config));
}

function networkTarget(options: ExporterOptions, reloadMs: number | undefined): OtlpTarget {
  const {
    protocol,
    endpoint,
    headers,
    basic,
    compression,
    timeoutMs,
    retry,
    tls,
    maxRequestSize,
    grpcReconnectionMs,
  } = options;
  const { insecure, skipVerify, caFile, certFile, keyFile } = tls;
  return {
    protocol,
    endpoint,
    compression,
    timeoutMs,
    retry,
    maxRequestBytes: maxRequestSize,
    reconnectMs: grpcReconnectionMs,
    headers: {
      ...Object.fromEntries(headers),
      ...(basic === undefined ? {} : { authorization: basicAuthorization(basic) }),
    },
    tls: {
      insecure,
      insecureSkipVerify: skipVerify,
      ...(caFile === "" ? {} : { ca: readFileSync(caFile, "utf8") }),
      ...(certFile === "" ? {} : { cert: readFileSync(certFile, "utf8") }),
      ...(keyFile === "" ? {} : { key: Secret.of(readFileSync(keyFile, "utf8"), keyFile) }),
    },
    ...(reloadMs === undefined ? {} : { reload: reloadOf(options, reloadMs) }),
  };
}

/** Only values read from files are reloaded. */
function reloadOf({ headers, basic, tls }: ExporterOptions, everyMs: number): ReloadOptions {
  const passwordFile = basic && secretFile(basic.password);
  return {
    everyMs,
    ...(tls.caFile === "" ? {} : { caFile: tls.caFile }),
    ...(tls.certFile === "" ? {} : { certFile: tls.certFile }),
    ...(tls.keyFile === "" ? {} : { keyFile: tls.keyFile }),
    headerFiles: Object.fromEntries(
      [...headers].flatMap(([name, value]) => {
        const file = secretFile(value);
        return file === undefined ? [] : [[name, file]];
      }),
    ),
    ...(basic === undefined || passwordFile === undefined
      ? {}
      : { basic: { user: basic.user, passwordFile } }),
  };
}

function basicAuthorization({ user, password }: NonNullable<ExporterOptions["basic"]>): Secret {
  return password.use((value) =>
    Secret.of(`Basic ${Buffer.from(`${user}:${value}`).toString("base64")}`, password.origin),
  );
}

function pullOf(config: Config): PullOptions | undefined {
  const options = scrapeOptions(config);
  return (
    options && {
      ...options,
      tls: options.tls && {
        ...options.tls,
        clientCaFile: options.tls.clientCaFile === "" ? undefined : options.tls.clientCaFile,
      },
    }
  );
}
