/** The official OTLP exporters from our options. */
import { credentials, Metadata } from "@grpc/grpc-js";
import { OTLPLogExporter as GrpcLogExporter } from "@opentelemetry/exporter-logs-otlp-grpc";
import { OTLPLogExporter as HttpLogExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { OTLPMetricExporter as GrpcMetricExporter } from "@opentelemetry/exporter-metrics-otlp-grpc";
import { OTLPMetricExporter as HttpMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import { OTLPTraceExporter as GrpcTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { OTLPTraceExporter as HttpTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import type { LogRecordExporter } from "@opentelemetry/sdk-logs";
import type { PushMetricExporter } from "@opentelemetry/sdk-metrics";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Signal } from "../status.ts";
import type { WireTarget } from "./options.ts";

/** Exporters that an interval of requests shares may send that many at once; the readers send one after the other. */
const IN_FLIGHT = 30;

/** An exporter of metrics. */
export function metricExporter(target: WireTarget): PushMetricExporter {
  return target.protocol === "grpc" ? new GrpcMetricExporter(grpcOptions(target)) : new HttpMetricExporter(httpOptions(target, "metrics"));
}

/** An exporter of log records. */
export function logExporter(target: WireTarget): LogRecordExporter {
  return target.protocol === "grpc" ? new GrpcLogExporter(grpcOptions(target)) : new HttpLogExporter(httpOptions(target, "logs"));
}

/** An exporter of spans. */
export function traceExporter(target: WireTarget): SpanExporter {
  return target.protocol === "grpc" ? new GrpcTraceExporter(grpcOptions(target)) : new HttpTraceExporter(httpOptions(target, "traces"));
}

/** The full URL of a signal: the path of the specification is appended unless it is there. */
export function signalUrl(endpoint: string, signal: Signal): string {
  const url = new URL(endpoint);
  const path = `/v1/${signal}`;
  if (!url.pathname.endsWith(path)) url.pathname = url.pathname.replace(/\/$/, "") + path;
  return url.href;
}

type HttpOptions = ConstructorParameters<typeof HttpMetricExporter>[0] & object;
type GrpcOptions = ConstructorParameters<typeof GrpcMetricExporter>[0] & object;

function common(target: WireTarget): { timeoutMillis: number; concurrencyLimit: number } {
  return { timeoutMillis: target.timeoutMs, concurrencyLimit: IN_FLIGHT };
}

function httpOptions(target: WireTarget, signal: Signal): HttpOptions {
  const { ca, cert, key, insecureSkipVerify } = target.tls;
  return {
    ...common(target), url: signalUrl(target.endpoint, signal), headers: { ...target.headers }, compression: target.compression as HttpOptions["compression"] & string,
    httpAgentOptions: { keepAlive: true, minVersion: "TLSv1.2", rejectUnauthorized: !insecureSkipVerify, ...(ca ? { ca } : {}), ...(cert ? { cert } : {}), ...(key ? { key } : {}) } as { keepAlive: boolean },
  };
}

function grpcOptions(target: WireTarget): GrpcOptions {
  const { ca, cert, key, insecureSkipVerify } = target.tls;
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(target.headers)) metadata.set(name, value);
  const pem = (text: string | undefined): Buffer | null => (text === undefined ? null : Buffer.from(text));
  const secure = target.endpoint.startsWith("https:");
  return {
    ...common(target), url: target.endpoint, metadata, compression: target.compression as GrpcOptions["compression"] & string,
    credentials: secure ? credentials.createSsl(pem(ca), pem(key), pem(cert), { rejectUnauthorized: !insecureSkipVerify }) : credentials.createInsecure(),
  };
}
