import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assertFewFields, assertFewValues } from "../../gateway/rpc-values.ts";
import { MintTokenRequestSchema } from "../../src/gen/steward/tokens/v1/engine_service_pb.ts";

const MOST = 10_000;

function refusal(run: () => void): Code | undefined {
  try {
    run();
  } catch (error) {
    return ConnectError.from(error).code;
  }
  return undefined;
}

function fields(
  message: Parameters<typeof create<typeof MintTokenRequestSchema>>[1],
): Code | undefined {
  return refusal(() =>
    assertFewFields(
      MintTokenRequestSchema,
      toBinary(MintTokenRequestSchema, create(MintTokenRequestSchema, message)),
    ),
  );
}

function json(text: string): Code | undefined {
  return refusal(() => assertFewValues(Buffer.from(text)));
}

describe("a message in protobuf", () => {
  const texts = fc.array(fc.string(), { maxLength: 300 });

  it("is taken with what requests have, of every kind of field", () => {
    fc.assert(
      fc.property(
        fc.record({
          mount: fc.string(),
          repositories: texts,
          repositoryIds: fc.array(fc.bigInt({ min: 0n, max: 2n ** 62n }), { maxLength: 300 }),
          permissions: fc.dictionary(fc.string(), fc.string(), { maxKeys: 300 }),
        }),
        (message) => {
          expect(fields(message)).toBeUndefined();
        },
      ),
    );
    expect(fields({ mount: "m".repeat(4_000_000) })).toBeUndefined();
  });

  it("may have ten thousand values, and no more", () => {
    expect(fields({ repositories: Array.from({ length: MOST }, () => "") })).toBeUndefined();
    expect(fields({ repositories: Array.from({ length: MOST + 1 }, () => "") })).toBe(
      Code.ResourceExhausted,
    );
    expect(fields({ repositoryIds: Array.from({ length: MOST - 1 }, () => 300n) })).toBeUndefined();
    expect(fields({ repositoryIds: Array.from({ length: MOST }, () => 300n) })).toBe(
      Code.ResourceExhausted,
    );
    expect(
      fields({
        permissions: Object.fromEntries(
          Array.from({ length: MOST }, (_, at) => [`p${at}`, "read"]),
        ),
      }),
    ).toBe(Code.ResourceExhausted);
    expect(
      refusal(() =>
        assertFewFields(
          MintTokenRequestSchema,
          Buffer.alloc(3 * (MOST + 1), Uint8Array.of(0xa0, 0x06, 1)),
        ),
      ),
    ).toBe(Code.ResourceExhausted);
  });

  it("that is damaged is left to its reader", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2_000 }), (bytes) => {
        expect(refusal(() => assertFewFields(MintTokenRequestSchema, bytes))).toBeUndefined();
      }),
    );
  });
});

describe("a message in JSON", () => {
  it("is taken with what requests have", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), (text) => {
        expect(json(text)).toBeUndefined();
      }),
    );
    expect(json(JSON.stringify({ a: '[{,\\"'.repeat(100_000) }))).toBeUndefined();
  });

  it.each([
    ["values", `[${"1,".repeat(MOST - 1)}1]`, `[${"1,".repeat(MOST)}1]`],
    [
      "members",
      `{${Array.from({ length: MOST - 1 }, (_, at) => `"${at}":1`).join(",")}}`,
      `{${Array.from({ length: MOST + 1 }, (_, at) => `"${at}":1`).join(",")}}`,
    ],
    ["levels of nesting", "[".repeat(100), "[".repeat(101)],
    ["characters in a number", "1".repeat(256), "1".repeat(257)],
    ["characters in a name", `{"${"a".repeat(255)}":1}`, `{"${"a".repeat(257)}" :1}`],
  ])("is refused with too many %s", (_name, most, more) => {
    expect(json(most)).toBeUndefined();
    expect(json(more)).toBe(Code.ResourceExhausted);
  });

  it("that is damaged is left to its reader", () => {
    for (const text of ["", '"', '"\\', "}]", '{"a"', "\u0000"]) expect(json(text)).toBeUndefined();
  });
});
