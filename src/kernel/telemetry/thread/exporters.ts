/** Configures the official OTLP exporters; gRPC uses the transport of `grpc-transport.ts`. */
import { type ChannelCredentials, credentials, Metadata } from "@grpc/grpc-js";
import { OTLPLogExporter as HttpLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPTraceExporter as HttpTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  createOtlpNetworkExportDelegate,
  ExporterMetrics,
} from "@opentelemetry/otlp-exporter-base";
import {
  createOtlpHttpExportDelegate,
  httpAgentFactoryFromOptions,
} from "@opentelemetry/otlp-exporter-base/node-http";
import {
  type IExporterMetricsHelper,
  type ISerializer,
  LogsExporterMetricsHelper,
  MetricsExporterMetricsHelper,
  ProtobufLogsSerializer,
  ProtobufTraceSerializer,
  TraceExporterMetricsHelper,
} from "@opentelemetry/otlp-transformer";
import type { ReadableLogRecord } from "@opentelemetry/sdk-logs";
import type { PushMetricExporter, ResourceMetrics } from "@opentelemetry/sdk-metrics";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Clock } from "../../base/clock.ts";
import type { Signal } from "../status.ts";
import { GrpcTransport } from "./grpc-transport.ts";
import type { WireTarget } from "./options.ts";
import { metricsSerializer } from "./otlp-metrics.ts";

/**
 * Maximum number of concurrent exports. Readers export one after the other, so one interval stays
 * below it.
 */
const IN_FLIGHT = 30;

/** Sends the requests of one signal. */
export interface Exporter<T> {
  export(items: T, done: Parameters<PushMetricExporter["export"]>[1]): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

export function metricExporter(target: WireTarget, clock: Clock): Exporter<ResourceMetrics> {
  return target.protocol === "grpc"
    ? overGrpc(target, {
        clock,
        service: "metrics.v1.MetricsService",
        serializer: metricsSerializer,
        metricsHelper: MetricsExporterMetricsHelper,
      })
    : overHttp(target);
}

export function logExporter(target: WireTarget, clock: Clock): Exporter<ReadableLogRecord[]> {
  return target.protocol === "grpc"
    ? overGrpc(target, {
        clock,
        service: "logs.v1.LogsService",
        serializer: ProtobufLogsSerializer,
        metricsHelper: LogsExporterMetricsHelper,
      })
    : new HttpLogExporter(httpOptions(target, "logs"));
}

export function traceExporter(target: WireTarget, clock: Clock): Exporter<ReadableSpan[]> {
  return target.protocol === "grpc"
    ? overGrpc(target, {
        clock,
        service: "trace.v1.TraceService",
        serializer: ProtobufTraceSerializer,
        metricsHelper: TraceExporterMetricsHelper,
      })
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

/** Like the official metric exporter, with a serializer that writes exemplars. */
function overHttp(target: WireTarget): Exporter<ResourceMetrics> {
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

interface GrpcSignal<T, R> {
  readonly clock: Clock;
  readonly service: string;
  readonly serializer: ISerializer<T, R>;
  readonly metricsHelper: IExporterMetricsHelper<T>;
}

function overGrpc<T, R>(
  target: WireTarget,
  { clock, service, serializer, metricsHelper }: GrpcSignal<T, R>,
): Exporter<T> {
  const url = new URL(target.endpoint);
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(target.headers)) metadata.set(name, value);
  const transport = new GrpcTransport({
    clock,
    address: url.protocol === "unix:" ? target.endpoint : url.host,
    method: `/opentelemetry.proto.collector.${service}/Export`,
    metadata,
    credentials: channelCredentials(target),
    compression: target.compression,
  });
  // The ledger counts; the exporter's own metrics are unused.
  const metrics = new ExporterMetrics({
    componentType: "otlp_grpc_exporter",
    metricsHelper,
    url: target.endpoint,
    meterProvider: undefined,
    responseAttributesFromError: () => ({}),
  });
  return createOtlpNetworkExportDelegate(
    { ...common(target), compression: target.compression },
    serializer,
    metrics,
    transport,
  );
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
