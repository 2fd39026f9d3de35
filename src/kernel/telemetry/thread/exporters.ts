/** The official OTLP exporters from our options; over gRPC with a transport of our own. */
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
 * Exporters that an interval of requests shares may send that many at once; the readers send one
 * after the other.
 */
const IN_FLIGHT = 30;

/** What sends requests of one signal. */
export interface Exporter<T> {
  export(items: T, done: Parameters<PushMetricExporter["export"]>[1]): void;
  forceFlush(): Promise<void>;
  shutdown(): Promise<void>;
}

/** An exporter of metrics. */
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

/** An exporter of log records. */
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

/** An exporter of spans. */
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

/** The full URL of a signal: the path of the specification is appended unless it is there. */
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

/** As the official exporter of metrics does it, with a serializer that knows exemplars. */
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
  // The ledger counts; nobody reads what the exporter would say of itself.
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
