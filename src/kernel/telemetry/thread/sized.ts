/**
 * A bound on requests: what is larger is not sent. It is never split here; the batch size does
 * that.
 */
import { ProtobufLogsSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import type { ISerializer } from "@opentelemetry/otlp-transformer";
import type { ReadableLogRecord } from "@opentelemetry/sdk-logs";
import type { ResourceMetrics } from "@opentelemetry/sdk-metrics";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { metricsSerializer } from "./otlp-metrics.ts";

/** A request that was not sent because of its size; its class is `invalid`. */
export class RequestTooLarge extends Error {
  constructor(bytes: number, limit: number) {
    super(
      `a request of ${bytes} bytes is too large for max_request_size, which is ${limit}; make the batches smaller`,
    );
    this.name = "RequestTooLarge";
  }
}

/**
 * The error for a request that is too large, else undefined. Encodes it once more to know, so only
 * with a limit.
 */
export type SizeCheck<T> = (request: T) => RequestTooLarge | undefined;

/** Of metrics; undefined without a limit. */
export function metricSize(limit: number): SizeCheck<ResourceMetrics> | undefined {
  return check(metricsSerializer, limit);
}

/** Of log records. */
export function logSize(limit: number): SizeCheck<ReadableLogRecord[]> | undefined {
  return check(ProtobufLogsSerializer, limit);
}

/** Of spans. */
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
