import { create, toBinary } from "@bufbuild/protobuf";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { readMessage } from "../../../src/kernel/wire/read.ts";
import { writeMessage } from "../../../src/kernel/wire/write.ts";
import {
  CreateSampleRequestSchema,
  DedupSampleSchema,
  SampleKind,
  type DedupSample,
} from "../../gen/steward/test/v1/dedup_sample_pb.ts";
import { GetVaultSampleResponseSchema } from "../../gen/steward/test/v1/vault_sample_pb.ts";
import { samples } from "./samples.ts";

function read(text: string): DedupSample {
  return readMessage(DedupSampleSchema, Buffer.from(text));
}

function failure(text: string, options = {}): StewardError {
  try {
    readMessage(DedupSampleSchema, Buffer.from(text), options);
  } catch (error) {
    if (error instanceof StewardError) return error;
    throw error;
  }
  throw new Error(`was read: ${text}`);
}

describe("reading", () => {
  it("gives back what was written, for any message", () => {
    fc.assert(
      fc.property(samples, (init) => {
        const message = create(DedupSampleSchema, init);
        const again = read(writeMessage(DedupSampleSchema, message));
        expect(
          Buffer.from(toBinary(DedupSampleSchema, again)).equals(
            Buffer.from(toBinary(DedupSampleSchema, message)),
          ),
        ).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("takes camelCase and declared names, and null for absent", () => {
    expect(
      read('{"smallNumber":1,"maybe_text":"x","maybeNumber":null,"anotherName":"y"}'),
    ).toMatchObject({ smallNumber: 1, maybeText: "x", renamed: "y" });
    expect(read('{"kind":"large_scan","maybe_kind":"Other-Kind"}')).toMatchObject({
      kind: SampleKind.LARGE_SCAN,
      maybeKind: SampleKind.OTHER,
    });
  });

  it("takes numbers that are whole however they are written", () => {
    expect(read('{"smallNumber":1e2,"largeNumber":-9007199254740991,"natural":4.0}')).toMatchObject(
      { smallNumber: 100, largeNumber: -9_007_199_254_740_991n, natural: 4 },
    );
  });

  it("takes a time with any offset", () => {
    expect(read('{"madeAt":"2026-01-01T01:30:00.5+01:30"}').madeAt).toMatchObject({
      seconds: 1_767_225_600n,
      nanos: 500_000_000,
    });
  });

  it("reads secrets although they are never written, and base64 where the style has it", () => {
    expect(read('{"password":"p"}').password).toBe("p");
    expect(
      readMessage(GetVaultSampleResponseSchema, Buffer.from('{"hashed_token":"//4="}')).hashedToken,
    ).toEqual(new Uint8Array([255, 254]));
  });

  it("takes blank text for the defaults and a byte order mark for nothing", () => {
    expect(read(" \n")).toEqual(create(DedupSampleSchema));
    expect(read('\ufeff{"text":"x"}').text).toBe("x");
  });

  it("keeps null inside values, and null of a Value field for absent", () => {
    expect(
      read('{"corrections":{"title":null},"result":null,"attributes":{"a":null}}'),
    ).toMatchObject({
      corrections: { title: { kind: { case: "nullValue" } } },
      attributes: { a: null },
    });
  });

  const wrong: [string, (string | number)[], string][] = [
    ['{"text":1}', ["text"], "text must be text, not a number"],
    ['{"smallNumber":"1"}', ["smallNumber"], "smallNumber must be a whole number, not text"],
    ['{"smallNumber":1.5}', ["smallNumber"], "smallNumber must be a whole number"],
    [
      '{"smallNumber":2147483648}',
      ["smallNumber"],
      "smallNumber must be between -2147483648 and 2147483647",
    ],
    ['{"natural":-1}', ["natural"], "natural must be between 0 and 4294967295"],
    [
      '{"largeNumber":9007199254740992}',
      ["largeNumber"],
      "largeNumber must be between -9007199254740991 and 9007199254740991",
    ],
    ['{"ratio":1e999}', ["ratio"], "ratio is too large a number"],
    ['{"ratio":true}', ["ratio"], "ratio must be a number, not true or false"],
    ['{"switchedOn":"true"}', ["switchedOn"], "switchedOn must be true or false, not text"],
    [
      '{"kind":"large_scam"}',
      ["kind"],
      "kind must be one of plain, large_scan, Other-Kind; did you mean large_scan?",
    ],
    ['{"kind":"SAMPLE_KIND_PLAIN"}', ["kind"], "kind must be one of plain, large_scan, Other-Kind"],
    ['{"kind":"unspecified"}', ["kind"], "kind must be one of plain, large_scan, Other-Kind"],
    ['{"kind":1}', ["kind"], "kind must be one of plain, large_scan, Other-Kind"],
    [
      '{"madeAt":"2026-02-30T00:00:00Z"}',
      ["madeAt"],
      "madeAt must be a time such as 2026-01-31T12:00:00Z, not text",
    ],
    [
      '{"madeAt":1}',
      ["madeAt"],
      "madeAt must be a time such as 2026-01-31T12:00:00Z, not a number",
    ],
    ['{"words":"a"}', ["words"], "words must be a list, not text"],
    ['{"words":["a",null]}', ["words", 1], "words[1] must be a value, not null"],
    ['{"part":[]}', ["part"], "part must be an object, not a list"],
    [
      '{"part":{"inner":{"partname":"x"}}}',
      ["part", "inner", "partname"],
      "part.inner.partname is not a known field; did you mean partName?",
    ],
    [
      '{"parts":[{},{"zzz":1}]}',
      ["parts", 1, "zzz"],
      "parts[1].zzz is not a known field; known are partName, inner",
    ],
    ['{"weights":{"a":"x"}}', ["weights", "a"], "weights.a must be a number, not text"],
    ['{"partByNumber":{"x":{}}}', ["partByNumber", "x"], "partByNumber.x is not a possible key"],
    [
      '{"chosenText":"a","chosenPart":{}}',
      ["chosenPart"],
      "chosenPart must be the only one of chosenText, chosenPart",
    ],
    ['{"text":"a","text":"b"}', ["text"], "text is given twice"],
    [
      '{"parts":[{},{"partName":"a","part\\u004eame":"b"}]}',
      ["parts", 1, "partName"],
      "parts[1].partName is given twice",
    ],
    [
      '{"maybeText":"a","maybe_text":"b"}',
      ["maybeText"],
      "maybeText is given twice, under two spellings",
    ],
    ['{"text":"\\ud800"}', ["text"], "text must be valid Unicode text"],
    ["[]", [], "the body must be a JSON object"],
    ["null", [], "the body must be a JSON object"],
    ['{"text":', [], "the body is not valid JSON"],
    [`${"[".repeat(33)}${"]".repeat(33)}`, [], "the body is nested more than 32 levels deep"],
  ];
  it.each(wrong)("refuses %s", (text, path, message) => {
    const error = failure(text);
    expect(error.code).toBe("invalid");
    expect(error.details).toHaveLength(1);
    expect(error.details?.[0]).toMatchObject({
      path,
      message: expect.stringContaining(message) as string,
    });
    expect(error.message).toBe(error.details?.[0]?.message);
  });

  it("finds everything that is wrong in one pass and says so shortly", () => {
    const error = failure('{"text":1,"words":[1,"a",2],"part":{"x":1},"ratio":"a"}');
    expect(error.details?.map((detail) => detail.path.join("."))).toEqual([
      "text",
      "words.0",
      "words.2",
      "part.x",
      "ratio",
    ]);
    expect(error.message).toBe(
      "text must be text, not a number; words[0] must be text, not a number; words[2] must be text, not a number; and 2 more",
    );
    expect(error.field).toBe("text");
  });

  it("keeps at most a hundred findings", () => {
    expect(
      failure(JSON.stringify({ words: Array.from({ length: 5000 }, () => 1) })).details,
    ).toHaveLength(100);
    expect(
      failure(
        JSON.stringify(
          Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`unknown${index}`, 1])),
        ),
      ).details,
    ).toHaveLength(100);
  });

  it("ignores unknown names when told to, at every depth", () => {
    expect(
      readMessage(DedupSampleSchema, Buffer.from('{"zzz":1,"part":{"yyy":2,"partName":"x"}}'), {
        ignoreUnknown: true,
      }).part?.partName,
    ).toBe("x");
  });

  it("refuses what is not UTF-8", () => {
    expect(() => readMessage(DedupSampleSchema, new Uint8Array([0x22, 0xff, 0x22]))).toThrow(
      "not UTF-8",
    );
  });

  it("throws nothing but StewardError, whatever comes", () => {
    const nearly = fc.jsonValue().map((value) =>
      JSON.stringify({
        name: value,
        kind: value,
        groupIds: value,
        sample: { part: value, weights: value, result: value, madeAt: value, attributes: value },
      }),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.string().map((text) => Buffer.from(text)),
          fc.json().map((text) => Buffer.from(text)),
          nearly.map((text) => Buffer.from(text)),
        ),
        (bytes) => {
          try {
            readMessage(CreateSampleRequestSchema, bytes);
          } catch (error) {
            expect(error).toBeInstanceOf(StewardError);
            expect((error as StewardError).code).toBe("invalid");
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});
