/**
 * Serialises OTLP metrics with exemplars, which the official serializers (0.301) omit: adds them to
 * their output. In protobuf they follow the other fields of their data point, since fields may come
 * in any order.
 */
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { JsonMetricsSerializer, ProtobufMetricsSerializer } from "@opentelemetry/otlp-transformer";
import type { IExportMetricsServiceResponse, ISerializer } from "@opentelemetry/otlp-transformer";
import { DataPointType } from "@opentelemetry/sdk-metrics";
import type { DataPoint, Histogram, ResourceMetrics } from "@opentelemetry/sdk-metrics";
import type { Exemplar } from "../../series/exemplars.ts";

/** A data point of a histogram; the SDK's type has no exemplars. */
export interface HistogramPoint extends DataPoint<Histogram> {
  readonly exemplars?: readonly Exemplar[];
}

/**
 * ExportMetricsServiceRequest.resource_metrics, .scope_metrics, .metrics, .histogram, .data_points.
 */
const PATH = [1, 2, 2, 9, 1] as const;
/** HistogramDataPoint.exemplars. */
const EXEMPLARS = 8;
/** The fields of Exemplar. */
const [TIME_UNIX_NANO, AS_DOUBLE, SPAN_ID, TRACE_ID] = [2, 3, 4, 5];
const NANOSECONDS = 1_000_000n;

export const metricsSerializer: ISerializer<ResourceMetrics, IExportMetricsServiceResponse> = {
  serializeRequest(metrics) {
    const bytes = ProtobufMetricsSerializer.serializeRequest(metrics);
    const points = histogramPoints(metrics);
    if (bytes === undefined || !points.some(({ exemplars }) => exemplars)) return bytes;
    const writer = new BinaryWriter();
    copyMessage(bytes, writer, { depth: 0, points: points.values() });
    return writer.finish();
  },
  deserializeResponse: (bytes) => ProtobufMetricsSerializer.deserializeResponse(bytes),
};

export const jsonMetricsSerializer: Pick<typeof metricsSerializer, "serializeRequest"> = {
  serializeRequest(metrics) {
    const bytes = JsonMetricsSerializer.serializeRequest(metrics);
    const points = histogramPoints(metrics);
    if (bytes === undefined || !points.some(({ exemplars }) => exemplars)) return bytes;
    const request = JSON.parse(Buffer.from(bytes).toString()) as JsonRequest;
    const scopes = request.resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics);
    const written = scopes.flatMap(({ metrics: all }) =>
      all.flatMap(({ histogram }) => histogram?.dataPoints ?? []),
    );
    for (const [index, point] of written.entries()) {
      const { exemplars } = points[index] ?? {};
      if (exemplars) point.exemplars = exemplars.map(jsonExemplar);
    }
    return Buffer.from(JSON.stringify(request));
  },
};

interface JsonMetric {
  readonly histogram?: { readonly dataPoints: { exemplars?: unknown }[] };
}

interface JsonScope {
  readonly metrics: readonly JsonMetric[];
}

interface JsonRequest {
  readonly resourceMetrics: readonly { readonly scopeMetrics: readonly JsonScope[] }[];
}

function jsonExemplar({ timeMs, value, spanId, traceId }: Exemplar): object {
  return { timeUnixNano: String(nanoseconds(timeMs)), asDouble: value, spanId, traceId };
}

/** In the order in which the serializers write them. */
function histogramPoints({ scopeMetrics }: ResourceMetrics): readonly HistogramPoint[] {
  const all = scopeMetrics.flatMap(({ metrics }) => metrics);
  return all.flatMap((metric) =>
    metric.dataPointType === DataPointType.HISTOGRAM ? metric.dataPoints : [],
  );
}

interface Position {
  readonly depth: number;
  /** The data points not yet written. */
  readonly points: Iterator<HistogramPoint, undefined>;
}

/** Copies the message at this depth of the path; appends exemplars to data points. */
function copyMessage(bytes: Uint8Array, writer: BinaryWriter, { depth, points }: Position): void {
  const within = PATH[depth];
  if (within === undefined) {
    writer.raw(bytes);
    for (const exemplar of points.next().value?.exemplars ?? []) writeExemplar(exemplar, writer);
    return;
  }
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const from = reader.pos;
    const [field, type] = reader.tag();
    if (field === within) {
      writer.tag(field, type).fork();
      copyMessage(reader.bytes(), writer, { depth: depth + 1, points });
      writer.join();
    } else {
      reader.skip(type, field);
      writer.raw(bytes.subarray(from, reader.pos));
    }
  }
}

function writeExemplar({ timeMs, value, spanId, traceId }: Exemplar, writer: BinaryWriter): void {
  writer.tag(EXEMPLARS, WireType.LengthDelimited).fork();
  writer.tag(TIME_UNIX_NANO, WireType.Bit64).fixed64(nanoseconds(timeMs));
  writer.tag(AS_DOUBLE, WireType.Bit64).double(value);
  writer.tag(SPAN_ID, WireType.LengthDelimited).bytes(Buffer.from(spanId, "hex"));
  writer.tag(TRACE_ID, WireType.LengthDelimited).bytes(Buffer.from(traceId, "hex"));
  writer.join();
}

function nanoseconds(ms: number): bigint {
  return BigInt(Math.round(ms)) * NANOSECONDS;
}
