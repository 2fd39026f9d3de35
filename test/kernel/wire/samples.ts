/** Random messages of the dedup style, every field within what JSON can hold. */
import { create, fromJson, type JsonValue, type MessageInitShape } from "@bufbuild/protobuf";
import {
  ListValueSchema,
  TimestampSchema,
  ValueSchema,
  type Timestamp,
  type Value,
} from "@bufbuild/protobuf/wkt";
import * as fc from "fast-check";
import {
  DedupPartSchema,
  SampleKind,
  type DedupPart,
  type DedupSampleSchema,
} from "../../gen/steward/test/v1/dedup_sample_pb.ts";

const text = fc.string({ unit: "binary" });
const key = text.filter((name) => name !== "__proto__");
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value || 0);
const safe = fc.maxSafeInteger().map(BigInt);
const kind = fc.constantFrom(SampleKind.PLAIN, SampleKind.LARGE_SCAN, SampleKind.OTHER);
const json = fc
  .jsonValue({ maxDepth: 4 })
  .map((value) => JSON.parse(JSON.stringify(value).replaceAll("__proto__", "proto")) as JsonValue);
const value: fc.Arbitrary<Value> = json
  .filter((plain) => plain !== null)
  .map((plain) => fromJson(ValueSchema, plain));
const time: fc.Arbitrary<Timestamp> = fc
  .date({
    min: new Date("0001-01-01T00:00:00Z"),
    max: new Date("9999-12-31T23:59:59.999Z"),
    noInvalidDate: true,
  })
  .map((date) =>
    create(TimestampSchema, {
      seconds: BigInt(Math.floor(date.getTime() / 1000)),
      nanos: (((date.getTime() % 1000) + 1000) % 1000) * 1_000_000,
    }),
  );
const part: fc.Arbitrary<DedupPart> = text.chain((partName) =>
  fc.option(text, { nil: undefined }).map((inner) =>
    create(DedupPartSchema, {
      partName,
      ...(inner === undefined ? {} : { inner: { partName: inner } }),
    }),
  ),
);

/** Any message whose JSON reads back as itself; `password` is never written and so never set. */
export const samples: fc.Arbitrary<MessageInitShape<typeof DedupSampleSchema>> = fc.record(
  {
    text,
    smallNumber: fc.integer(),
    largeNumber: safe,
    natural: fc.nat(),
    ratio: double,
    switchedOn: fc.boolean(),
    kind,
    madeAt: time,
    part,
    maybeText: text,
    maybeNumber: safe,
    maybeRatio: double,
    maybeSwitch: fc.boolean(),
    maybeKind: kind,
    words: fc.array(text),
    kinds: fc.array(kind),
    parts: fc.array(part),
    times: fc.array(time),
    weights: fc.dictionary(key, double),
    partByNumber: fc
      .dictionary(fc.integer({ min: -1000, max: 1000 }).map(String), part)
      .map((entries) => entries as Record<number, DedupPart>),
    corrections: fc.dictionary(key, value),
    result: value,
    attributes: fc.dictionary(key, json),
    items: fc.array(json).map((list) => fromJson(ListValueSchema, list)),
    choice: fc.oneof(
      text.map((chosen) => ({ case: "chosenText" as const, value: chosen })),
      part.map((chosen) => ({ case: "chosenPart" as const, value: chosen })),
    ),
    renamed: text,
    leftOut: text.filter((chosen) => chosen !== ""),
    counters: fc.array(fc.nat().map(BigInt)),
  },
  { requiredKeys: [] },
);
