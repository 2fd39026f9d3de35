import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs, ValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import {
  plainField,
  plainMessage,
  prepareWriter,
  writeMessage,
  type WriteOptions,
} from "../../../src/kernel/wire/write.ts";
import {
  BytesInDedupSchema,
  DurationInDedupSchema,
  SameNameSchema,
  UnlessTextSchema,
} from "../../gen/steward/test/v1/broken_pb.ts";
import {
  DedupSampleSchema,
  GetSampleResponseSchema,
  SampleKind,
} from "../../gen/steward/test/v1/dedup_sample_pb.ts";
import {
  GetMonitorSampleResponseSchema,
  MonitorState,
} from "../../gen/steward/test/v1/monitor_sample_pb.ts";
import { UnstyledSchema } from "../../gen/steward/test/v1/unstyled_pb.ts";
import { GetVaultSampleResponseSchema } from "../../gen/steward/test/v1/vault_sample_pb.ts";

function write<D extends DescMessage>(
  schema: D,
  init: MessageInitShape<D>,
  options?: WriteOptions,
): string {
  return writeMessage(schema, create(schema, init), options);
}

const time = { seconds: 1_767_225_600n, nanos: 987_650_000 };

describe("the dedup style", () => {
  it("writes every unset field as null, zero, empty list or empty map, in declaration order", () => {
    expect(write(DedupSampleSchema, {})).toBe(
      '{"text":"","smallNumber":0,"largeNumber":0,"natural":0,"ratio":0,"switchedOn":false,"kind":null,"madeAt":null,"part":null,"maybeText":null,"maybeNumber":null,' +
        '"maybeRatio":null,"maybeSwitch":null,"maybeKind":null,"words":[],"kinds":[],"parts":[],"times":[],"weights":{},"partByNumber":{},"corrections":{},"result":null,' +
        '"attributes":null,"items":null,"chosenText":null,"chosenPart":null,"anotherName":"","counters":[]}',
    );
  });

  const cases: [string, MessageInitShape<typeof DedupSampleSchema>, string][] = [
    [
      "writes 64-bit integers as numbers",
      { largeNumber: 9_007_199_254_740_991n },
      '"largeNumber":9007199254740991',
    ],
    ["writes lists of 64-bit integers as numbers", { counters: [1n, 2n] }, '"counters":[1,2]'],
    [
      "writes doubles with as many digits as they need",
      { ratio: 0.1 + 0.2 },
      '"ratio":0.30000000000000004',
    ],
    ["keeps a present zero apart from an unset number", { maybeNumber: 0n }, '"maybeNumber":0'],
    [
      "writes an enum without prefix in lower snake",
      { kind: SampleKind.LARGE_SCAN },
      '"kind":"large_scan"',
    ],
    [
      "writes an enum's own text where it declares one",
      { kind: SampleKind.OTHER },
      '"kind":"Other-Kind"',
    ],
    [
      "takes an optional UNSPECIFIED for unset",
      { maybeKind: SampleKind.UNSPECIFIED },
      '"maybeKind":null',
    ],
    [
      "writes times with exactly three digits, truncated",
      { madeAt: time },
      '"madeAt":"2026-01-01T00:00:00.987Z"',
    ],
    [
      "writes whole seconds with three digits too",
      { times: [timestampFromMs(0)] },
      '"times":["1970-01-01T00:00:00.000Z"]',
    ],
    [
      "truncates times before 1970 downwards",
      { madeAt: { seconds: -1n, nanos: 999_999_999 } },
      '"madeAt":"1969-12-31T23:59:59.999Z"',
    ],
    [
      "writes nested messages in their own style",
      { part: { partName: "a", inner: { partName: "b" } } },
      '"part":{"partName":"a","inner":{"partName":"b","inner":null}}',
    ],
    [
      "writes maps with number keys",
      { partByNumber: { 7: { partName: "x" } } },
      '"partByNumber":{"7":{"partName":"x","inner":null}}',
    ],
    [
      "writes a map key that is no ordinary property",
      { weights: JSON.parse('{"__proto__":1}') as Record<string, number> },
      '"weights":{"__proto__":1}',
    ],
    [
      "writes the member of a oneof that is set",
      { choice: { case: "chosenText", value: "" } },
      '"chosenText":"","chosenPart":null',
    ],
    [
      "writes a Struct as it is",
      { attributes: { a: [1, null, { b: true }] } },
      '"attributes":{"a":[1,null,{"b":true}]}',
    ],
    [
      "writes a Value that is null",
      { result: { kind: { case: "nullValue", value: 0 } } },
      '"result":null',
    ],
    [
      "writes a Value natively",
      {
        corrections: { title: create(ValueSchema, { kind: { case: "stringValue", value: "x" } }) },
      },
      '"corrections":{"title":"x"}',
    ],
    [
      "writes a list of values natively",
      { items: { values: [{ kind: { case: "numberValue", value: 1.5 } }] } },
      '"items":[1.5]',
    ],
    ["writes a field under its given name", { renamed: "r" }, '"anotherName":"r"'],
    ["writes a left-out field once it is set", { leftOut: "x" }, '"leftOut":"x"'],
    ["escapes text and lone surrogates", { text: '"\u0001\ud800' }, '"text":"\\"\\u0001\\ud800"'],
  ];
  it.each(cases)("%s", (_name, init, expected) => {
    expect(write(DedupSampleSchema, init)).toContain(expected);
  });

  it("leaves out an unset message that is marked so, and never writes a secret", () => {
    expect(Object.keys(JSON.parse(write(GetSampleResponseSchema, { data: {} })) as object)).toEqual(
      ["data"],
    );
    expect(write(DedupSampleSchema, { password: "hunter2", leftOut: "" })).not.toMatch(
      /hunter2|leftOut/,
    );
  });

  it.each([
    [
      "an integer that a number cannot hold",
      { largeNumber: 9_007_199_254_740_992n },
      "large_number",
    ],
    ["an integer that is none", { smallNumber: 1.5 }, "small_number"],
    ["NaN", { ratio: Number.NaN }, "ratio"],
    ["infinity in a map", { weights: { a: Number.POSITIVE_INFINITY } }, "weights"],
    ["NaN in a Struct", { attributes: { a: [Number.NaN] } }, "attributes"],
    ["an enum value without a name", { kind: 77 as SampleKind }, "kind"],
    ["an unspecified value in a list of enums", { kinds: [SampleKind.UNSPECIFIED] }, "kinds"],
    [
      "a time after the year 9999",
      { madeAt: { seconds: 253_402_300_800n, nanos: 0 } },
      "timestamp",
    ],
  ])("stops at %s and names the field", (_what, init, named) => {
    expect(() => write(DedupSampleSchema, init)).toThrow(named);
  });
});

describe("the monitor style", () => {
  it("omits what is unset, keeps zeros, and indents by two", () => {
    const text = write(GetMonitorSampleResponseSchema, { schemaVersion: 1 }, { indent: 2 });
    expect(text).toBe(`{
  "schema_version": 1,
  "empty_text": "",
  "byte_count": 0,
  "ratio": 0,
  "earliest": "0001-01-01T00:00:00Z",
  "checkpoint": null,
  "rows": [],
  "labels": {},
  "duration": null
}`);
  });

  it("writes whole seconds, precise fractions without trailing zeros, and what is set of the omitted", () => {
    const text = write(GetMonitorSampleResponseSchema, {
      state: MonitorState.RATE_LIMITED,
      takenAt: time,
      seenAt: time,
      earliest: { seconds: 0n, nanos: 1 },
      maybeText: "",
      part: {},
      tags: ["t"],
      fewLabels: { a: "b" },
      errors: 2,
      overdue: true,
      reason: "r",
      token: "hunter2",
      checkpoint: { partName: "c" },
      value: { kind: { case: "boolValue", value: true } },
    });
    expect(JSON.parse(text)).toEqual({
      schema_version: 0,
      empty_text: "",
      byte_count: 0,
      ratio: 0,
      maybe_text: "",
      state: "rate_limited",
      taken_at: "2026-01-01T00:00:00Z",
      seen_at: "2026-01-01T00:00:00.98765Z",
      earliest: "1970-01-01T00:00:00.000000001Z",
      part: { part_name: "" },
      checkpoint: { part_name: "c" },
      rows: [],
      tags: ["t"],
      labels: {},
      few_labels: { a: "b" },
      errors: 2,
      overdue: true,
      reason: "r",
      value: true,
      duration: null,
    });
  });
});

describe("the tokens style", () => {
  it("writes snake case, null for what is unset, base64 and times up to nanoseconds", () => {
    expect(
      write(GetVaultSampleResponseSchema, {
        appName: "a",
        appId: 1001n,
        hashedToken: new Uint8Array([255, 254]),
        expiresAt: time,
      }),
    ).toBe(
      '{"app_name":"a","app_id":1001,"hashed_token":"//4=","expires_at":"2026-01-01T00:00:00.98765Z","last_renewal":null,"repositories":[],"permissions":{},"org_name":null}',
    );
  });
});

describe("a declaration that cannot be written", () => {
  it.each([
    ["bytes outside of the tokens style", BytesInDedupSchema, "bytes"],
    ["a well-known type without a form", DurationInDedupSchema, "declares no REST style"],
    ["two fields under one name", SameNameSchema, "first"],
    ["a field left out by what is no boolean", UnlessTextSchema, "unless text"],
    ["a file without a style", UnstyledSchema, "declares no REST style"],
  ])("shows at start: %s", (_what, schema: DescMessage, named) => {
    expect(() => prepareWriter(schema)).toThrow(named);
    expect(() => prepareWriter(schema)).toThrow(named);
  });
});

describe("a message written in pieces", () => {
  it.each([
    ["nothing", {}],
    ["something", { smallNumber: 7, words: ["a"], part: { partName: "b" } }],
  ] as const)("is the same as the whole, field by field, of %s", (_name, init) => {
    for (const schema of [
      DedupSampleSchema,
      GetMonitorSampleResponseSchema,
      GetVaultSampleResponseSchema,
    ]) {
      const message = create(
        schema as typeof DedupSampleSchema,
        schema === DedupSampleSchema
          ? { ...init, words: [...("words" in init ? init.words : [])] }
          : {},
      );
      const pieces = schema.fields.map((field) => plainField(field, message));
      expect(JSON.stringify(Object.assign({}, ...pieces))).toBe(
        JSON.stringify(plainMessage(schema as typeof DedupSampleSchema, message)),
      );
    }
  });
});
