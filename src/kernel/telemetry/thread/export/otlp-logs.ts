/**
 * Serialises requests of log records that their writers encoded already (`encoded-logs.ts`). For
 * standard output, which has OTLP as JSON, they are decoded again.
 */
import type { SpanContext } from "@opentelemetry/api";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { JsonLogsSerializer, ProtobufLogsSerializer } from "@opentelemetry/otlp-transformer";
import type { IExportLogsServiceResponse, ISerializer } from "@opentelemetry/otlp-transformer";
import type { Resource } from "@opentelemetry/resources";
import type { ReadableLogRecord } from "@opentelemetry/sdk-logs";
import { AttributeWriter, encodeKey } from "../../attribute-writer.ts";
import { logFields } from "../../writer/encoded-logs.ts";
import type { AttributeValue } from "../../types.ts";

export interface EncodedLog {
  readonly resource: Resource;
  /** A LogRecord message. */
  readonly bytes: Uint8Array;
}

const SCOPE = { name: "steward" } as const;
/** ExportLogsServiceRequest.resource_logs; the fields of ResourceLogs, ScopeLogs and others. */
const RESOURCE_LOGS = 1;
const [RESOURCE, SCOPE_LOGS, RESOURCE_SCHEMA_URL] = [1, 2, 3];
const RESOURCE_ATTRIBUTES = 1;
const [INSTRUMENTATION_SCOPE, LOG_RECORDS] = [1, 2];
const SCOPE_NAME = 1;

export const logsSerializer: ISerializer<readonly EncodedLog[], IExportLogsServiceResponse> = {
  serializeRequest(logs) {
    const writer = new BinaryWriter();
    for (const [resource, records] of Map.groupBy(logs, (log) => log.resource)) {
      writer.tag(RESOURCE_LOGS, WireType.LengthDelimited).fork();
      writer.tag(RESOURCE, WireType.LengthDelimited).bytes(encodeResource(resource));
      writer.tag(SCOPE_LOGS, WireType.LengthDelimited).fork();
      writer.tag(INSTRUMENTATION_SCOPE, WireType.LengthDelimited).fork();
      writer.tag(SCOPE_NAME, WireType.LengthDelimited).string(SCOPE.name).join();
      for (const { bytes } of records)
        writer.tag(LOG_RECORDS, WireType.LengthDelimited).bytes(bytes);
      writer.join();
      writer.tag(RESOURCE_SCHEMA_URL, WireType.LengthDelimited).string(resource.schemaUrl ?? "");
      writer.join();
    }
    return writer.finish();
  },
  deserializeResponse: (bytes) => ProtobufLogsSerializer.deserializeResponse(bytes),
};

export const jsonLogsSerializer: Pick<typeof logsSerializer, "serializeRequest"> = {
  serializeRequest: (logs) => JsonLogsSerializer.serializeRequest(logs.map(readableLog)),
};

function encodeResource({ attributes }: Resource): Uint8Array {
  const writer = new AttributeWriter(0);
  // `sdkResource` makes resources of plain values only.
  for (const [name, value] of Object.entries(attributes))
    writer.attribute(RESOURCE_ATTRIBUTES, encodeKey(name), value as AttributeValue);
  return writer.finish();
}

/** The record in the form of the SDK's exporters. */
function readableLog({ resource, bytes }: EncodedLog): ReadableLogRecord {
  const attributes: Record<string, AttributeValue> = {};
  const context = { traceId: "", spanId: "", traceFlags: 0 };
  const log: { -readonly [K in keyof ReadableLogRecord]: ReadableLogRecord[K] } = {
    hrTime: [0, 0],
    hrTimeObserved: [0, 0],
    resource,
    instrumentationScope: SCOPE,
    attributes,
    droppedAttributesCount: 0,
  };
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (field === logFields.time) log.hrTime = readTime(reader);
    else if (field === logFields.severityNumber) log.severityNumber = reader.uint32();
    else if (field === logFields.severityText) log.severityText = reader.string();
    else if (field === logFields.body) log.body = readAnyValue(reader.bytes());
    else if (field === logFields.attributes) {
      const [name, value] = readKeyValue(reader.bytes());
      attributes[name] = value;
    } else if (field === logFields.flags) context.traceFlags = reader.fixed32();
    else if (field === logFields.traceId) context.traceId = hex(reader.bytes());
    else if (field === logFields.spanId) context.spanId = hex(reader.bytes());
    else if (field === logFields.observedTime) log.hrTimeObserved = readTime(reader);
    else if (field === logFields.eventName) log.eventName = reader.string();
    else reader.skip(type, field);
  }
  if (context.traceId !== "") log.spanContext = context satisfies SpanContext;
  return log;
}

function readTime(reader: BinaryReader): [seconds: number, nanoseconds: number] {
  const nanoseconds = BigInt(reader.fixed64());
  return [Number(nanoseconds / 1_000_000_000n), Number(nanoseconds % 1_000_000_000n)];
}

function readKeyValue(bytes: Uint8Array): [name: string, value: AttributeValue] {
  const reader = new BinaryReader(bytes);
  reader.tag();
  const name = reader.string();
  reader.tag();
  return [name, readAnyValue(reader.bytes())];
}

function readAnyValue(bytes: Uint8Array): AttributeValue {
  const reader = new BinaryReader(bytes);
  const [member] = reader.tag();
  if (member === 1) return reader.string();
  if (member === 2) return reader.bool();
  return member === 3 ? Number(reader.int64()) : reader.double();
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}
