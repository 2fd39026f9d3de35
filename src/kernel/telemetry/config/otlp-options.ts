/** Resolves the OTLP keys for each signal, so that exporters need not know about inheritance. */
import type { Secret } from "../../base/secret.ts";
import type { Config } from "../../config/config.ts";
import { readKeyGroup } from "../../config/key-group.ts";
import type { Key } from "../../config/key.ts";
import {
  otlpBatch,
  otlpCloudInstance,
  otlpCloudToken,
  otlpExporter,
  otlpMetricInterval,
  otlpReloadEnabled,
  otlpReloadInterval,
  otlpSignalExporters,
  otlpStdoutInterval,
  otlpStdoutPretty,
  type OtlpExporterKeys,
  type OtlpProtocol,
  type OtlpSignal,
} from "./otlp-keys.ts";
import { otlpRoutes, protocolOf, settleEndpoint, destinationOf } from "./otlp-route.ts";

interface RetryOptions {
  readonly enabled: boolean;
  readonly initialMs: number;
  readonly maxMs: number;
  readonly elapsedMs: number;
}

/** The exporter of one signal over the network. */
export interface ExporterOptions {
  readonly protocol: Exclude<OtlpProtocol, "stdout">;
  /** For http the full URL including `/v1/<signal>`; for grpc `host:port`. */
  readonly endpoint: string;
  /** By name. */
  readonly headers: ReadonlyMap<string, Secret>;
  /**
   * HTTP Basic at a hosted backend, when it is completely configured and the headers have no
   * `authorization`.
   */
  readonly basic: { readonly user: string; readonly password: Secret } | undefined;
  readonly compression: "gzip" | "none";
  /** Milliseconds; 0 is the exporter's default. */
  readonly timeoutMs: number;
  /** Bytes; larger requests are not sent. 0 is unlimited. */
  readonly maxRequestSize: number;
  /** Milliseconds after which a grpc connection is replaced; 0 = never. */
  readonly grpcReconnectionMs: number;
  readonly tls: {
    readonly insecure: boolean;
    readonly skipVerify: boolean;
    readonly caFile: string;
    readonly certFile: string;
    readonly keyFile: string;
  };
  readonly retry: RetryOptions;
}

/** How a signal is written to standard output; undefined when it is not. */
export function stdoutOptions(
  config: Config,
  signal: OtlpSignal,
): { readonly pretty: boolean } | undefined {
  const route = readKeyGroup(config, otlpRoutes[signal]);
  return route.enabled && protocolOf(route) === "stdout"
    ? { pretty: config.get(otlpStdoutPretty) }
    : undefined;
}

/**
 * The exporter of a signal; undefined when it is off, has no endpoint or is written to standard
 * output.
 */
export function exporterOptions(config: Config, signal: OtlpSignal): ExporterOptions | undefined {
  const own = otlpSignalExporters[signal];
  const way = destinationOf(readKeyGroup(config, otlpRoutes[signal]));
  if (way === undefined) return undefined;
  const settled = settleEndpoint(way, config.source(otlpRoutes[signal][way.named]));
  const headers =
    config.get(own.headers).size > 0 ? config.get(own.headers) : config.get(otlpExporter.headers);
  const user = config.get(otlpCloudInstance);
  const password = config.get(otlpCloudToken);
  const basic =
    user !== "" &&
    password !== undefined &&
    ![...headers.keys()].some((name) => name.toLowerCase() === "authorization")
      ? { user, password }
      : undefined;
  return {
    protocol: way.protocol,
    headers,
    basic,
    endpoint: way.protocol === "http" ? withPath(settled.endpoint, signal) : settled.endpoint,
    compression: config.get(own.compression) ?? config.get(otlpExporter.compression) ?? "none",
    timeoutMs: config.get(own.timeout) || config.get(otlpExporter.timeout),
    maxRequestSize: config.get(own.maxRequestSize) || config.get(otlpExporter.maxRequestSize),
    grpcReconnectionMs:
      config.get(own.grpcReconnection) || config.get(otlpExporter.grpcReconnection),
    tls: {
      insecure:
        settled.plain ?? config.get(own.insecure) ?? config.get(otlpExporter.insecure) ?? false,
      skipVerify: config.get(own.skipVerify) ?? config.get(otlpExporter.skipVerify) ?? false,
      caFile: config.get(own.caFile) || config.get(otlpExporter.caFile),
      certFile: config.get(own.certFile) || config.get(otlpExporter.certFile),
      keyFile: config.get(own.keyFile) || config.get(otlpExporter.keyFile),
    },
    retry: retryOf(config, own),
  };
}

/** The queue in front of a signal's exporter; 0 is its default. Times in milliseconds. */
export interface BatchSettings {
  readonly capacity: number;
  readonly batchSize: number;
  readonly batchDelayMs: number;
  readonly exportTimeoutMs: number;
}

export function batchSettings(config: Config, signal: "logs" | "traces"): BatchSettings {
  const { maxQueueSize, maxBatchSize, interval, timeout } = otlpBatch[signal];
  return {
    capacity: config.get(maxQueueSize),
    batchSize: config.get(maxBatchSize),
    batchDelayMs: config.get(interval),
    exportTimeoutMs: config.get(timeout),
  };
}

/** Milliseconds between exports of metrics, by protocol. */
export function metricIntervalMs(config: Config): number {
  return config.get(
    protocolOf(readKeyGroup(config, otlpRoutes.metrics)) === "stdout"
      ? otlpStdoutInterval
      : otlpMetricInterval,
  );
}

/** Milliseconds between reloads of credentials; undefined when they are read once. */
export function credentialReloadMs(config: Config): number | undefined {
  return config.get(otlpReloadEnabled) ? config.get(otlpReloadInterval) : undefined;
}

function withPath(endpoint: string, signal: OtlpSignal): string {
  const url = new URL(endpoint);
  if (!url.pathname.endsWith(`/v1/${signal}`))
    url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/${signal}`;
  return url.href;
}

function retryOf(config: Config, own: OtlpExporterKeys): RetryOptions {
  // A timeout of 0 in a signal's own group is how templates write an unset one.
  const ownValue = <T>(key: Key<T | undefined>): T | undefined =>
    config.get<unknown>(key) === 0 ? undefined : config.get(key);
  const touched = [own.retryEnabled, own.retryInitial, own.retryMax, own.retryElapsed].some(
    (key: Key<unknown>) => ownValue(key) !== undefined,
  );
  const value = <T>(mine: Key<T | undefined>, shared: Key<T | undefined>, otherwise: T): T =>
    (touched ? (ownValue(mine) ?? shared.default) : config.get(shared)) ?? otherwise;
  return {
    enabled: value(own.retryEnabled, otlpExporter.retryEnabled, true),
    initialMs: value(own.retryInitial, otlpExporter.retryInitial, 5000),
    maxMs: value(own.retryMax, otlpExporter.retryMax, 30_000),
    elapsedMs: value(own.retryElapsed, otlpExporter.retryElapsed, 60_000),
  };
}
