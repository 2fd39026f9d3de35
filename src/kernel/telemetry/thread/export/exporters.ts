/** Configures the official OTLP exporters. Metrics and logs use our serializers. */
import { type ChannelCredentials, credentials, Metadata } from "@grpc/grpc-js";
import { OTLPTraceExporter as GrpcTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as HttpTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  createOtlpHttpExportDelegate,
  httpAgentFactoryFromOptions,
} from "@opentelemetry/otlp-exporter-base/node-http";
import { createOtlpGrpcExportDelegate } from "@opentelemetry/otlp-grpc-exporter-base";
import { MetricsExporterMetricsHelper } from "@opentelemetry/otlp-transformer";
import type { IExporterMetricsHelper, ISerializer } from "@opentelemetry/otlp-transformer";
import type { PushMetricExporter, ResourceMetrics } from "@opentelemetry/sdk-metrics";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Signal } from "../../status.ts";
import type { WireTarget } from "../options.ts";
import { type EncodedLog, logsSerializer } from "./otlp-logs.ts";
import { metricsSerializer } from "./otlp-metrics.ts";

/**
 * Maximum number of concurrent exports; the SDK refuses further ones. The scopes export at the same
 * time, one request each: those of 100 networks, of the process and of the monitor.
 */
const IN_FLIGHT = 128;
const USER_AGENT = "steward";

/** Sends the requests of one signal. */
export interface Exporter<T> {
  export(items: T, done: Parameters<PushMetricExporter["export"]>[1]): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** Like the official metric exporters, with the serializer that writes exemplars. */
export function metricExporter(target: WireTarget): Exporter<ResourceMetrics> {
  return exporter(target, metricsSignal);
}

/** Like the official log exporters, for encoded records. */
export function logExporter(target: WireTarget): Exporter<EncodedLog[]> {
  return exporter(target, logsSignal);
}

export function traceExporter(target: WireTarget): Exporter<ReadableSpan[]> {
  return target.protocol === "grpc"
    ? new GrpcTraceExporter(grpcOptions(target))
    : new HttpTraceExporter(httpOptions(target));
}

/** The full URL of a signal: appends the specification's path unless present. */
export function signalUrl(endpoint: string, signal: Signal): string {
  const url = new URL(endpoint);
  const path = `/v1/${signal}`;
  if (!url.pathname.endsWith(path)) url.pathname = url.pathname.replace(/\/$/, "") + path;
  return url.href;
}

type HttpOptions = ConstructorParameters<typeof HttpTraceExporter>[0] & object;
type GrpcOptions = ConstructorParameters<typeof GrpcTraceExporter>[0] & object;

/** Serializer and names of a signal whose requests are serialised here, not by the SDK. */
interface OwnSignal<T> {
  readonly signal: Signal;
  /** In the SDK's names of exporters. */
  readonly name: "metric" | "log";
  readonly serializer: ISerializer<T, unknown>;
  readonly helper: IExporterMetricsHelper<T>;
  readonly client: string;
  readonly method: string;
}

const metricsSignal: OwnSignal<ResourceMetrics> = {
  signal: "metrics",
  name: "metric",
  serializer: metricsSerializer,
  helper: MetricsExporterMetricsHelper,
  client: "MetricsExportService",
  method: "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
};

const logsSignal: OwnSignal<EncodedLog[]> = {
  signal: "logs",
  name: "log",
  serializer: logsSerializer,
  helper: { name: "log", countItems: (logs) => logs.length },
  client: "LogsExportService",
  method: "/opentelemetry.proto.collector.logs.v1.LogsService/Export",
};

function common(target: WireTarget): { timeoutMillis: number; concurrencyLimit: number } {
  return { timeoutMillis: target.timeoutMs, concurrencyLimit: IN_FLIGHT };
}

function httpOptions(target: WireTarget): HttpOptions {
  return {
    ...common(target),
    url: signalUrl(target.endpoint, "traces"),
    headers: { ...target.headers },
    compression: target.compression as HttpOptions["compression"] & string,
    httpAgentOptions: agentOptions(target),
  };
}

function agentOptions({ tls: { ca, cert, key, insecureSkipVerify } }: WireTarget): {
  keepAlive: boolean;
} {
  const tls = {
    minVersion: "TLSv1.2",
    rejectUnauthorized: !insecureSkipVerify,
    ...(ca ? { ca } : {}),
    ...(cert ? { cert } : {}),
    ...(key ? { key } : {}),
  };
  return { keepAlive: true, ...tls };
}

function exporter<T>(target: WireTarget, own: OwnSignal<T>): Exporter<T> {
  return target.protocol === "grpc" ? overGrpc(target, own) : overHttp(target, own);
}

function overHttp<T>(
  target: WireTarget,
  { signal, name, serializer, helper }: OwnSignal<T>,
): Exporter<T> {
  const headers = { ...target.headers, "Content-Type": "application/x-protobuf" };
  return createOtlpHttpExportDelegate(
    {
      ...common(target),
      url: signalUrl(target.endpoint, signal),
      compression: target.compression,
      headers: () => Promise.resolve(headers),
      agentFactory: httpAgentFactoryFromOptions(agentOptions(target)),
    },
    serializer,
    `otlp_http_${name}_exporter`,
    helper,
    undefined,
  );
}

function overGrpc<T>(
  target: WireTarget,
  { name, serializer, helper, client, method }: OwnSignal<T>,
): Exporter<T> {
  return createOtlpGrpcExportDelegate(
    {
      ...common(target),
      url: authorityOf(target),
      compression: target.compression,
      userAgent: USER_AGENT,
      metadata: () => metadataOf(target),
      credentials: () => channelCredentials(target),
    },
    serializer,
    `otlp_grpc_${name}_exporter`,
    helper,
    undefined,
    client,
    method,
  );
}

function grpcOptions(target: WireTarget): GrpcOptions {
  return {
    ...common(target),
    // The SDK leaves out the port of the scheme; with this one gRPC's default is the same. What is
    // encrypted is up to the credentials.
    url: `https://${authorityOf(target)}`,
    compression: target.compression as GrpcOptions["compression"] & string,
    userAgent: USER_AGENT,
    metadata: metadataOf(target),
    credentials: channelCredentials(target),
  };
}

/** With the port: gRPC takes 443 where none is named, also for the scheme http. */
function authorityOf({ endpoint }: WireTarget): string {
  const { protocol, hostname, port } = new URL(endpoint);
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}

function metadataOf({ headers }: WireTarget): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}

function channelCredentials({
  endpoint,
  tls: { ca, cert, key, insecureSkipVerify },
}: WireTarget): ChannelCredentials {
  const pem = (text: string | undefined): Buffer | null =>
    text === undefined ? null : Buffer.from(text);
  return endpoint.startsWith("https:")
    ? credentials.createSsl(pem(ca), pem(key), pem(cert), {
        rejectUnauthorized: !insecureSkipVerify,
      })
    : unshared(credentials.createInsecure());
}

/**
 * Channels with equal credentials and one address share a connection, and all without TLS are equal:
 * one that was made anew would go on with the connection of another signal.
 */
function unshared(made: ChannelCredentials): ChannelCredentials {
  made._equals = (other) => other === made;
  return made;
}
