/**
 * OTLP requests as the specification's own descriptors read them: `descriptors.binpb` is the
 * FileDescriptorSet of the OpenTelemetry protocol (Apache-2.0), taken from the serialized files of
 * opentelemetry-proto 1.45.2 on PyPI. Nothing of the code under test takes part.
 */
import { readFileSync } from "node:fs";
import { createFileRegistry, fromBinary } from "@bufbuild/protobuf";
import type { DescMessage } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const registry = createFileRegistry(
  fromBinary(
    FileDescriptorSetSchema,
    readFileSync(new URL("./descriptors.binpb", import.meta.url)),
  ),
);

/** Attributes as plain values. */
export type PlainAttributes = Readonly<Record<string, string | number | boolean>>;

/** One point of a metric with all that is around it. */
export interface ReceivedPoint {
  readonly resource: PlainAttributes;
  readonly schemaUrl: string;
  readonly scope: string;
  readonly metric: string;
  readonly unit: string;
  readonly description: string;
  readonly kind: "gauge" | "sum" | "histogram";
  readonly monotonic: boolean;
  /** 2 = cumulative. */
  readonly temporality: number;
  readonly attributes: PlainAttributes;
  /** Names of the attributes that were sent as doubles; other numbers were sent as integers. */
  readonly doubles: readonly string[];
  readonly startMs: number;
  readonly timeMs: number;
  readonly value: number;
  /** How the value was sent; undefined for a histogram. */
  readonly sentAs: "double" | "integer" | undefined;
  readonly histogram:
    | {
        readonly bounds: readonly number[];
        readonly counts: readonly number[];
        readonly sum: number;
        readonly count: number;
      }
    | undefined;
  /** Absent when there are none. */
  readonly exemplars?: readonly ReceivedExemplar[];
}

/** One exemplar. Identities in hexadecimal. */
export interface ReceivedExemplar {
  readonly value: number;
  readonly timeMs: number;
  readonly traceId: string;
  readonly spanId: string;
}

/** One log record with its resource. */
export interface ReceivedLog {
  readonly resource: PlainAttributes;
  readonly schemaUrl: string;
  readonly scope: string;
  readonly name: string;
  readonly body: string;
  readonly severity: string;
  readonly severityNumber: number;
  readonly attributes: PlainAttributes;
  /** Names of the attributes that were sent as doubles; other numbers were sent as integers. */
  readonly doubles: readonly string[];
  readonly timeMs: number;
  readonly observedMs: number;
  /** In hexadecimal; empty when it belongs to none. */
  readonly traceId: string;
  readonly spanId: string;
}

/** One span with its resource. Identities in hexadecimal. */
export interface ReceivedSpan {
  readonly resource: PlainAttributes;
  readonly schemaUrl: string;
  readonly scope: string;
  readonly name: string;
  /** 2 = server. */
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentSpanId: string;
  readonly traceState: string;
  readonly attributes: PlainAttributes;
  /** 0 unset, 2 error. */
  readonly status: number;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly startMs: number;
  readonly endMs: number;
}

interface KeyValue {
  readonly key: string;
  readonly value?: { readonly value: { readonly case?: string; readonly value?: unknown } };
}
interface Resource {
  readonly attributes: readonly KeyValue[];
}
interface NumberPoint {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano: bigint;
  readonly timeUnixNano: bigint;
  readonly value: { readonly case?: string; readonly value?: number | bigint };
}
interface WireExemplar {
  readonly timeUnixNano: bigint;
  readonly value: { readonly value?: number | bigint };
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
}
interface HistogramPoint {
  readonly attributes: readonly KeyValue[];
  readonly startTimeUnixNano: bigint;
  readonly timeUnixNano: bigint;
  readonly count: bigint;
  readonly sum?: number;
  readonly bucketCounts: readonly bigint[];
  readonly explicitBounds: readonly number[];
  readonly exemplars: readonly WireExemplar[];
}
type Data =
  | { readonly case: "gauge"; readonly value: { readonly dataPoints: readonly NumberPoint[] } }
  | {
      readonly case: "sum";
      readonly value: {
        readonly dataPoints: readonly NumberPoint[];
        readonly isMonotonic: boolean;
        readonly aggregationTemporality: number;
      };
    }
  | {
      readonly case: "histogram";
      readonly value: {
        readonly dataPoints: readonly HistogramPoint[];
        readonly aggregationTemporality: number;
      };
    };
interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly data: Data;
}
interface MetricsRequest {
  readonly resourceMetrics: readonly {
    readonly schemaUrl: string;
    readonly resource?: Resource;
    readonly scopeMetrics: readonly {
      readonly scope?: { readonly name: string };
      readonly metrics: readonly Metric[];
    }[];
  }[];
}
interface LogRecord {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly timeUnixNano: bigint;
  readonly observedTimeUnixNano: bigint;
  readonly severityText: string;
  readonly severityNumber: number;
  readonly eventName: string;
  readonly body?: KeyValue["value"];
  readonly attributes: readonly KeyValue[];
}
interface LogsRequest {
  readonly resourceLogs: readonly {
    readonly schemaUrl: string;
    readonly resource?: Resource;
    readonly scopeLogs: readonly {
      readonly scope?: { readonly name: string };
      readonly logRecords: readonly LogRecord[];
    }[];
  }[];
}
interface Span {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly parentSpanId: Uint8Array;
  readonly traceState: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: bigint;
  readonly endTimeUnixNano: bigint;
  readonly attributes: readonly KeyValue[];
  readonly status?: { readonly code: number };
  readonly links: readonly { readonly traceId: Uint8Array; readonly spanId: Uint8Array }[];
}
interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly schemaUrl: string;
    readonly resource?: Resource;
    readonly scopeSpans: readonly {
      readonly scope?: { readonly name: string };
      readonly spans: readonly Span[];
    }[];
  }[];
}

const metricsRequest = message(
  "opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest",
);
const logsRequest = message("opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest");

const traceRequest = message("opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest");

/** All points of a request. Throws when the bytes are no such message. */
export function decodeMetrics(bytes: Uint8Array): ReceivedPoint[] {
  const request = fromBinary(metricsRequest, bytes) as unknown as MetricsRequest;
  return request.resourceMetrics.flatMap(({ resource, schemaUrl, scopeMetrics }) => {
    const around = plain(resource?.attributes);
    return scopeMetrics.flatMap(({ scope, metrics }) =>
      metrics.flatMap((metric) =>
        points(metric, { resource: around, schemaUrl, scope: scope?.name ?? "" }),
      ),
    );
  });
}

/** All records of a request. Throws when the bytes are no such message. */
export function decodeLogs(bytes: Uint8Array): ReceivedLog[] {
  const request = fromBinary(logsRequest, bytes) as unknown as LogsRequest;
  return request.resourceLogs.flatMap(({ resource, schemaUrl, scopeLogs }) =>
    scopeLogs.flatMap(({ scope, logRecords }) =>
      logRecords.map((record) => ({
        resource: plain(resource?.attributes),
        schemaUrl,
        scope: scope?.name ?? "",
        name: record.eventName,
        body: String(scalar(record.body?.value.value ?? "")),
        severity: record.severityText,
        severityNumber: record.severityNumber,
        attributes: plain(record.attributes),
        doubles: doublesOf(record.attributes),
        timeMs: ms(record.timeUnixNano),
        observedMs: ms(record.observedTimeUnixNano),
        traceId: hex(record.traceId),
        spanId: hex(record.spanId),
      })),
    ),
  );
}

/** All spans of a request. Throws when the bytes are no such message. */
export function decodeSpans(bytes: Uint8Array): ReceivedSpan[] {
  const request = fromBinary(traceRequest, bytes) as unknown as TraceRequest;
  return request.resourceSpans.flatMap(({ resource, schemaUrl, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({
        resource: plain(resource?.attributes),
        schemaUrl,
        scope: scope?.name ?? "",
        name: span.name,
        kind: span.kind,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        traceState: span.traceState,
        attributes: plain(span.attributes),
        status: span.status?.code ?? 0,
        links: span.links.map((link) => ({ traceId: hex(link.traceId), spanId: hex(link.spanId) })),
        startMs: ms(span.startTimeUnixNano),
        endMs: ms(span.endTimeUnixNano),
      })),
    ),
  );
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function points(
  { name, unit, description, data }: Metric,
  around: {
    readonly resource: PlainAttributes;
    readonly schemaUrl: string;
    readonly scope: string;
  },
): ReceivedPoint[] {
  const common = {
    ...around,
    metric: name,
    unit,
    description,
    kind: data.case,
    monotonic: data.case === "sum" && data.value.isMonotonic,
    temporality: data.case === "gauge" ? 0 : data.value.aggregationTemporality,
  };
  if (data.case !== "histogram")
    return data.value.dataPoints.map((point) => ({
      ...common,
      ...timed(point),
      value: Number(point.value.value),
      sentAs: point.value.case === "asDouble" ? ("double" as const) : ("integer" as const),
      histogram: undefined,
    }));
  return data.value.dataPoints.map((point) => ({
    ...common,
    ...timed(point),
    value: Number.NaN,
    sentAs: undefined,
    histogram: {
      bounds: point.explicitBounds,
      counts: point.bucketCounts.map(Number),
      sum: point.sum ?? Number.NaN,
      count: Number(point.count),
    },
    ...(point.exemplars.length === 0
      ? {}
      : {
          exemplars: point.exemplars.map((each) => ({
            value: Number(each.value.value),
            timeMs: ms(each.timeUnixNano),
            traceId: hex(each.traceId),
            spanId: hex(each.spanId),
          })),
        }),
  }));
}

function timed(
  point: NumberPoint | HistogramPoint,
): Pick<ReceivedPoint, "attributes" | "doubles" | "startMs" | "timeMs"> {
  return {
    attributes: plain(point.attributes),
    doubles: doublesOf(point.attributes),
    startMs: ms(point.startTimeUnixNano),
    timeMs: ms(point.timeUnixNano),
  };
}

function plain(attributes: readonly KeyValue[] | undefined): PlainAttributes {
  return Object.fromEntries(
    (attributes ?? []).map(({ key, value }) => [key, scalar(value?.value.value)]),
  );
}

function doublesOf(attributes: readonly KeyValue[]): string[] {
  return attributes
    .filter(({ value }) => value?.value.case === "doubleValue")
    .map(({ key }) => key);
}

function scalar(value: unknown): string | number | boolean {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return value;
  throw new Error("an attribute that is no scalar");
}

function ms(nanoseconds: bigint): number {
  return Number(nanoseconds / 1_000_000n);
}

function message(name: string): DescMessage {
  const desc = registry.getMessage(name);
  if (!desc) throw new Error(`the descriptors know no ${name}`);
  return desc;
}
