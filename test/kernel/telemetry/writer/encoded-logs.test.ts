import { ROOT_CONTEXT, trace, TraceFlags } from "@opentelemetry/api";
import { JsonLogsSerializer, ProtobufLogsSerializer } from "@opentelemetry/otlp-transformer";
import { InMemoryLogRecordExporter, LoggerProvider } from "@opentelemetry/sdk-logs";
import { SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import fc from "fast-check";
import { expect, it } from "vitest";
import type { EncodedLogs } from "../../../../src/kernel/telemetry/messages.ts";
import {
  jsonLogsSerializer,
  logsSerializer,
} from "../../../../src/kernel/telemetry/thread/export/otlp-logs.ts";
import type { EncodedLog } from "../../../../src/kernel/telemetry/thread/export/otlp-logs.ts";
import { sdkResource } from "../../../../src/kernel/telemetry/thread/sdk-resource.ts";
import type { Attributes } from "../../../../src/kernel/telemetry/types.ts";
import { LogEncoder } from "../../../../src/kernel/telemetry/writer/encoded-logs.ts";
import type { LogRecord } from "../../../../src/kernel/telemetry/writer/log-record.ts";
import { decodeLogs } from "../../../support/otlp/decode.ts";

const NOW_MS = 1_700_000_000_123;
const SEVERITY = { debug: 5, info: 9, warn: 13, error: 17 } as const;
const CONSTANTS: Attributes = { "svc.provider": "tailscale", replaced: true };
const RESOURCE = sdkResource({ "service.name": "steward", "process.pid": 7, share: 0.5 });

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary" }),
  fc.string({ minLength: 50, maxLength: 200 }),
  fc.constantFrom("\ud800", "a\udc00b", "ÿ".repeat(64), "x".repeat(63), "x".repeat(65)),
);
const value = fc.option(
  fc.oneof(
    text,
    fc.boolean(),
    fc.double(),
    fc.integer(),
    fc.maxSafeInteger(),
    fc.constantFrom(127, 128, 16_383, 16_384, 2 ** 32, 2 ** 63, -1, -(2 ** 63), -(2 ** 64)),
  ),
  { nil: undefined },
);
const names = [["a", "b.c", "ä"], ["only", "replaced"], []];
const log: fc.Arbitrary<LogRecord> = fc.constantFrom(...names).chain((list) =>
  fc.record({
    scope: fc.nat({ max: 1 }),
    name: text,
    severity: fc.constantFrom("debug", "info", "warn", "error"),
    body: text,
    names: fc.constant(list),
    values: fc.tuple(...list.map(() => value)),
    timeMs: fc.oneof(fc.nat(), fc.constant(NOW_MS)),
    observedMs: fc.option(fc.nat(), { nil: undefined }),
    trace: fc.constantFrom(undefined, { traceId: "a".repeat(32), spanId: "0".repeat(15) + "1" }),
    cut: fc.constant(undefined),
  }),
);
const constantsOf = (scope: number): Attributes => (scope === 0 ? {} : CONSTANTS);

function encode(records: readonly LogRecord[]): EncodedLogs {
  const encoder = new LogEncoder({ constantsOf, now: () => NOW_MS });
  for (const record of records) encoder.add(record);
  expect(encoder.size).toBe(records.length);
  return encoder.finish();
}

function split({ bytes, ends }: EncodedLogs): EncodedLog[] {
  return ends.map((end, at) => ({
    resource: RESOURCE,
    bytes: bytes.subarray(ends[at - 1] ?? 0, end),
  }));
}

/** The same records by the SDK. */
function bySdk(records: readonly LogRecord[]) {
  const exporter = new InMemoryLogRecordExporter();
  const provider = new LoggerProvider({
    resource: RESOURCE,
    processors: [new SimpleLogRecordProcessor({ exporter })],
  });
  const logger = provider.getLogger("steward");
  for (const { scope, name, severity, body, names, values, ...record } of records)
    logger.emit({
      ...(name === "" ? {} : { eventName: name }),
      ...(record.trace === undefined
        ? {}
        : {
            context: trace.setSpanContext(ROOT_CONTEXT, {
              ...record.trace,
              traceFlags: TraceFlags.SAMPLED,
            }),
          }),
      severityNumber: SEVERITY[severity],
      severityText: severity.toUpperCase(),
      body,
      timestamp: new Date(record.timeMs),
      observedTimestamp: new Date(record.observedMs ?? NOW_MS),
      attributes: {
        ...Object.fromEntries(
          names.flatMap((each, at) => {
            const shown = values[at];
            const absent = typeof shown === "number" && !Number.isFinite(shown);
            // A constant comes after all others, whatever it replaces.
            return shown === undefined || absent || each in constantsOf(scope)
              ? []
              : [[each, shown]];
          }),
        ),
        ...constantsOf(scope),
      },
    });
  return exporter.getFinishedLogRecords();
}

it("encoded log records are read as those of the SDK", () => {
  fc.assert(
    fc.property(fc.array(log, { minLength: 1, maxLength: 20 }), (records) => {
      const encoded = encode(records);
      expect(encoded.scopes).toEqual(records.map(({ scope }) => scope));
      const own = logsSerializer.serializeRequest(split(encoded)) ?? new Uint8Array();
      const sdk = ProtobufLogsSerializer.serializeRequest(bySdk(records)) ?? new Uint8Array();
      expect(decodeLogs(own)).toEqual(decodeLogs(sdk));
    }),
  );
});

it("on standard output they have the text of the SDK", () => {
  const wellFormed = log.filter(({ body, name, values }) =>
    [body, name, ...values].every((each) => typeof each !== "string" || each.isWellFormed()),
  );
  const plain = (bytes: Uint8Array | undefined): unknown =>
    JSON.parse(Buffer.from(bytes ?? []).toString());
  fc.assert(
    fc.property(fc.array(wellFormed, { minLength: 1, maxLength: 20 }), (records) => {
      const encoded = encode(records);
      expect(plain(jsonLogsSerializer.serializeRequest(split(encoded)))).toEqual(
        plain(JsonLogsSerializer.serializeRequest(bySdk(records))),
      );
    }),
  );
});

it("a buffer of a message has its records only, and grows with them", () => {
  const record: LogRecord = {
    scope: 0,
    name: "x",
    severity: "info",
    body: "b".repeat(50_000),
    names: ["a"],
    values: ["v".repeat(100_000)],
    timeMs: Number.NaN,
    observedMs: undefined,
    trace: undefined,
    cut: { body: 3, attribute: 0 },
  };
  const { bytes, ends, cuts } = encode([record, record]);
  expect(bytes.buffer.byteLength).toBe(ends[1]);
  expect(ends[1]).toBe(2 * (ends[0] ?? 0));
  expect(cuts).toEqual([record.cut, record.cut]);
  const [first] = split({ bytes, ends, scopes: [], cuts: [] });
  const [decoded] = decodeLogs(logsSerializer.serializeRequest(first ? [first] : []) ?? bytes);
  expect(decoded).toMatchObject({ body: record.body, timeMs: 0, observedMs: NOW_MS });
});
