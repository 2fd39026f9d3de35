/** Configures the official OTLP exporters. Metrics use our serializer, which writes exemplars. */
import { type ChannelCredentials, credentials, Metadata } from "@grpc/grpc-js";
import { OTLPLogExporter as GrpcLogExporter } from "@opentelemetry/exporter-logs-otlp-grpc";
import { OTLPLogExporter as HttpLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPTraceExporter as GrpcTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as HttpTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  createOtlpHttpExportDelegate,
  httpAgentFactoryFromOptions,
} from "@opentelemetry/otlp-exporter-base/node-http";
import { createOtlpGrpcExportDelegate } from "@opentelemetry/otlp-grpc-exporter-base";
import { MetricsExporterMetricsHelper } from "@opentelemetry/otlp-transformer";
import type { ReadableLogRecord } from "@opentelemetry/sdk-logs";
import type { PushMetricExporter, ResourceMetrics } from "@opentelemetry/sdk-metrics";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Signal } from "../../status.ts";
import type { WireTarget } from "../options.ts";
import { metricsSerializer } from "./otlp-metrics.ts";

/**
 * Maximum number of concurrent exports. Readers export one after the other, so one interval stays
 * below it.
 */
const IN_FLIGHT = 30;
const USER_AGENT = "steward";

/** Sends the requests of one signal. */
export interface Exporter<T> {
  export(items: T, done: Parameters<PushMetricExporter["export"]>[1]): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** Like the official metric exporters, with the serializer that writes exemplars. */
export function metricExporter(target: WireTarget): Exporter<ResourceMetrics> {
  return target.protocol === "grpc" ? metricsOverGrpc(target) : metricsOverHttp(target);
}

export function logExporter(target: WireTarget): Exporter<ReadableLogRecord[]> {
  return target.protocol === "grpc"
    ? new GrpcLogExporter(grpcOptions(target))
    : new HttpLogExporter(httpOptions(target, "logs"));
}

export function traceExporter(target: WireTarget): Exporter<ReadableSpan[]> {
  return target.protocol === "grpc"
    ? new GrpcTraceExporter(grpcOptions(target))
    : new HttpTraceExporter(httpOptions(target, "traces"));
}

/** The full URL of a signal: appends the specification's path unless present. */
export function signalUrl(endpoint: string, signal: Signal): string {
  const url = new URL(endpoint);
  const path = `/v1/${signal}`;
  if (!url.pathname.endsWith(path)) url.pathname = url.pathname.replace(/\/$/, "") + path;
  return url.href;
}

type HttpOptions = ConstructorParameters<typeof HttpLogExporter>[0] & object;
type GrpcOptions = ConstructorParameters<typeof GrpcLogExporter>[0] & object;

function common(target: WireTarget): { timeoutMillis: number; concurrencyLimit: number } {
  return { timeoutMillis: target.timeoutMs, concurrencyLimit: IN_FLIGHT };
}

function httpOptions(target: WireTarget, signal: Signal): HttpOptions {
  return {
    ...common(target),
    url: signalUrl(target.endpoint, signal),
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

function metricsOverHttp(target: WireTarget): Exporter<ResourceMetrics> {
  const headers = { ...target.headers, "Content-Type": "application/x-protobuf" };
  return createOtlpHttpExportDelegate(
    {
      ...common(target),
      url: signalUrl(target.endpoint, "metrics"),
      compression: target.compression,
      headers: () => Promise.resolve(headers),
      agentFactory: httpAgentFactoryFromOptions(agentOptions(target)),
    },
    metricsSerializer,
    "otlp_http_metric_exporter",
    MetricsExporterMetricsHelper,
    undefined,
  );
}

function metricsOverGrpc(target: WireTarget): Exporter<ResourceMetrics> {
  return createOtlpGrpcExportDelegate(
    {
      ...common(target),
      url: new URL(target.endpoint).host,
      compression: target.compression,
      userAgent: USER_AGENT,
      metadata: () => metadataOf(target),
      credentials: () => channelCredentials(target),
    },
    metricsSerializer,
    "otlp_grpc_metric_exporter",
    MetricsExporterMetricsHelper,
    undefined,
    "MetricsExportService",
    "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
  );
}

function grpcOptions(target: WireTarget): GrpcOptions {
  return {
    ...common(target),
    url: target.endpoint,
    compression: target.compression as GrpcOptions["compression"] & string,
    userAgent: USER_AGENT,
    metadata: metadataOf(target),
    credentials: channelCredentials(target),
  };
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
    : credentials.createInsecure();
}
