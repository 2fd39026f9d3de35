import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { createBinder, type Binder, type BindRule } from "../../../src/kernel/wire/bind.ts";
import { ListEventsRequestSchema } from "../../../src/gen/steward/monitor/v1/event_service_pb.ts";
import { NestedRequestSchema, StrayRequestSchema } from "../../gen/steward/test/v1/broken_pb.ts";
import {
  CreateSampleRequestSchema,
  GetSampleRequestSchema,
  ImportSampleRequestSchema,
  ListSamplesRequestSchema,
  SampleKind,
} from "../../gen/steward/test/v1/dedup_sample_pb.ts";

function binder(rule: Partial<BindRule> & Pick<BindRule, "input">): Binder {
  return createBinder({ variables: [], body: "", ignoreUnknown: false, ...rule });
}

const list = binder({ input: ListSamplesRequestSchema, variables: ["shelf_id"] });

function query(search: string): unknown {
  return list.bind({ params: { shelf_id: "s" }, search, body: new Uint8Array() });
}

function failure(run: () => unknown): StewardError {
  try {
    run();
  } catch (error) {
    if (error instanceof StewardError) return error;
    throw error;
  }
  throw new Error("was bound");
}

describe("binding a query", () => {
  const good: [string, object][] = [
    ["", { shelfId: "s", offset: 0, kinds: [], light: false }],
    ["?limit=7&offset=-2", { limit: 7, offset: -2 }],
    ["minRatio=.5", { minRatio: 0.5 }],
    ["min_ratio=1e-3", { minRatio: 0.001 }],
    ["above=9007199254740991", { above: 9_007_199_254_740_991n }],
    [
      "kinds=plain,large_scan&kinds=Other-Kind",
      { kinds: [SampleKind.PLAIN, SampleKind.LARGE_SCAN, SampleKind.OTHER] },
    ],
    ["kinds=plain,%20large_scan", { kinds: [SampleKind.PLAIN, SampleKind.LARGE_SCAN] }],
    ["kinds=", { kinds: [] }],
    ["kind=plain", { kind: SampleKind.PLAIN }],
    ["light=true", { light: true }],
    ["light=TRUE", { light: false }],
    ["light=1", { light: false }],
    ["light=", { light: false }],
    ["light=true&light=true", { light: false }],
    ["strict=true", { strict: true }],
    ["tag=a&tag=b,c", { tag: ["a", "b,c"] }],
    ["tag=%C3%A9+x", { tag: ["é x"] }],
    ["since=2026-01-01T00:00:00Z", { since: { seconds: 1_767_225_600n } }],
    ["zzz=1&shelfId=other&__proto__=1", { shelfId: "s" }],
  ];
  it.each(good)("takes %s", (search, expected) => {
    expect(query(search)).toMatchObject(expected);
  });

  const bad: [string, string][] = [
    ["limit=abc", "limit must be a whole number, not text"],
    ["limit=", "limit must be a whole number, not text"],
    ["limit=1.0", "limit must be a whole number, not text"],
    ["limit=1&limit=2", "limit must be given once"],
    ["limit=1&limit=1", "limit must be given once"],
    ["limit=99999999999", "limit must be between -2147483648 and 2147483647"],
    ["minRatio=NaN", "minRatio must be a number, not text"],
    ["minRatio=Infinity", "minRatio must be a number, not text"],
    ["minRatio=0x10", "minRatio must be a number, not text"],
    ["kind=", "kind must be one of plain, large_scan, Other-Kind"],
    [
      "kinds=plain,pain",
      "kinds[1] must be one of plain, large_scan, Other-Kind; did you mean plain?",
    ],
    ["kinds=plain,,plain", "kinds[1] must be one of plain, large_scan, Other-Kind"],
    ["strict=yes", "strict must be true or false, not text"],
    ["since=yesterday", "since must be a time such as 2026-01-31T12:00:00Z, not text"],
  ];
  it.each(bad)("refuses %s", (search, message) => {
    const error = failure(() => query(search));
    expect(error.message).toBe(message);
    expect(error.rule).not.toBe("bad_request");
  });
});

describe("binding a path", () => {
  const get = binder({ input: GetSampleRequestSchema, variables: ["number"] });
  it("coerces by the field's type", () => {
    expect(
      get.bind({ params: { number: "12" }, search: "", body: new Uint8Array() }),
    ).toMatchObject({ number: 12 });
  });

  it("calls a variable that cannot be one a bad request", () => {
    const error = failure(() =>
      get.bind({ params: { number: "abc" }, search: "", body: new Uint8Array() }),
    );
    expect(error).toMatchObject({
      code: "invalid",
      rule: "bad_request",
      message: "number must be a whole number, not text",
    });
  });
});

describe("binding a lenient parameter", () => {
  const events = binder({ input: ListEventsRequestSchema });

  it.each<[string, number | undefined]>([
    ["limit=7", 7],
    ["limit=-7", -7],
    ["limit=7&limit=8", 7],
    ["limit=99999999999", 2 ** 31 - 1],
    ["limit=-99999999999", -(2 ** 31)],
    ["limit=1.5", undefined],
    ["limit=x", undefined],
    ["limit=", undefined],
    ["start=never&end=&cursor=a&cursor=b", undefined],
  ])("takes %s without an error", (search, limit) => {
    const bound = events.bind({ params: {}, search, body: undefined });
    expect((bound as { readonly limit?: number }).limit).toBe(limit);
  });
});

describe("binding a body", () => {
  const whole = binder({ input: CreateSampleRequestSchema, body: "*" });
  const one = binder({
    input: ImportSampleRequestSchema,
    variables: ["number"],
    body: "sample",
    ignoreUnknown: true,
  });

  it("takes an absent or blank body for the defaults", () => {
    expect(whole.bind({ params: {}, search: "", body: new Uint8Array() })).toMatchObject({
      name: "",
      confirm: false,
    });
    expect(
      whole.bind({ params: {}, search: "?name=ignored", body: Buffer.from(" ") }),
    ).toMatchObject({ name: "" });
  });

  it("refuses a field that the path gives", () => {
    const both = binder({ input: GetSampleRequestSchema, variables: ["number"], body: "*" });
    expect(
      failure(() =>
        both.bind({ params: { number: "1" }, search: "", body: Buffer.from('{"number":1}') }),
      ).message,
    ).toBe("number is given by the path; leave it out of the body");
  });

  it("suggests no field that the path gives", () => {
    const rest = binder({ input: CreateSampleRequestSchema, variables: ["name"], body: "*" });
    const refused = (body: string): string =>
      failure(() => rest.bind({ params: { name: "n" }, search: "", body: Buffer.from(body) }))
        .message;
    expect(refused('{"zzz":1}')).toBe(
      "zzz is not a known field; known are kind, groupIds, confirm, sample, jaccard, fuzzy",
    );
    expect(refused('{"nmae":1}')).toBe(
      "nmae is not a known field; known are kind, groupIds, confirm, sample, jaccard, fuzzy",
    );
    expect(refused('{"knid":1}')).toBe("knid is not a known field; did you mean kind?");
    const none = binder({ input: GetSampleRequestSchema, variables: ["number"], body: "*" });
    expect(
      failure(() =>
        none.bind({ params: { number: "1" }, search: "", body: Buffer.from('{"zzz":1}') }),
      ).message,
    ).toBe("zzz is not a known field; no fields are allowed here");
  });

  it("takes one field from the body and the others from path and query", () => {
    expect(
      one.bind({
        params: { number: "5" },
        search: "dryRun=true",
        body: Buffer.from('{"text":"t","zzz":1}'),
      }),
    ).toMatchObject({ number: 5, dryRun: true, sample: { text: "t" } });
    expect(
      failure(() =>
        one.bind({ params: { number: "x" }, search: "dryRun=x", body: Buffer.from('{"text":1}') }),
      ).details?.map((detail) => detail.path),
    ).toEqual([["number"], ["dryRun"], ["sample", "text"]]);
  });

  it("throws nothing but StewardError on any path, query and body", () => {
    fc.assert(
      fc.property(
        fc.string(),
        fc.string({ unit: "binary" }),
        fc.oneof(
          fc.uint8Array(),
          fc.json().map((text) => Buffer.from(text)),
        ),
        (number, search, body) => {
          for (const run of [
            () => one.bind({ params: { number }, search, body }),
            () => query(`${search}&limit=${search}&kinds=${search}`),
          ]) {
            try {
              run();
            } catch (error) {
              expect(error).toBeInstanceOf(StewardError);
              expect((error as StewardError).code).toBe("invalid");
            }
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("a rule that cannot be bound", () => {
  it.each([
    ["a path variable that is no field", { input: StrayRequestSchema, variables: ["missing"] }],
    ["a query parameter that text cannot give", { input: NestedRequestSchema }],
    ["a body that is no field", { input: StrayRequestSchema, body: "missing" }],
    ["a body that is no message", { input: StrayRequestSchema, body: "id" }],
  ])("shows at start: %s", (_what, rule) => {
    expect(() => binder(rule)).toThrow("assertion failed");
  });
});
