/**
 * Size limit of requests: larger ones are not sent. Nothing is split here; the batch size does
 * that.
 */
import { ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ISerializer } from "@opentelemetry/otlp-transformer";
import type { ResourceMetrics } from "@opentelemetry/sdk-metrics";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { type EncodedLog, logsSerializer } from "./otlp-logs.ts";
import { metricsSerializer } from "./otlp-metrics.ts";

/** The error of a request above the limit; its class is `invalid`. */
export class RequestTooLarge extends Error {
  constructor(bytes: number, limit: number) {
    super(
      `a request of ${bytes} bytes is too large for max_request_size, which is ${limit}; make the batches smaller`,
    );
    this.name = "RequestTooLarge";
  }
}

/**
 * The error for a request above the limit, else undefined. Encodes the request a second time, so
 * only used with a limit.
 */
export type SizeCheck<T> = (request: T) => RequestTooLarge | undefined;

/** Undefined without a limit. */
export function metricSize(limit: number): SizeCheck<ResourceMetrics> | undefined {
  return check(metricsSerializer, limit);
}

export function logSize(limit: number): SizeCheck<EncodedLog[]> | undefined {
  return check(logsSerializer, limit);
}

export function spanSize(limit: number): SizeCheck<ReadableSpan[]> | undefined {
  return check(ProtobufTraceSerializer, limit);
}

function check<T>(serializer: ISerializer<T, unknown>, limit: number): SizeCheck<T> | undefined {
  if (limit === 0) return undefined;
  return (request) => {
    const bytes = serializer.serializeRequest(request)?.length ?? 0;
    return bytes > limit ? new RequestTooLarge(bytes, limit) : undefined;
  };
}
