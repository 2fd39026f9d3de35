import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  isRawNumber,
  numberText,
  parseExact,
  rawNumber,
  writeExact,
} from "../../../src/tokens/logical/json.ts";

function causeOf(text: string): unknown {
  try {
    return parseExact(text);
  } catch (error) {
    return (error as Error).cause;
  }
}

describe("numbers in JSON", () => {
  it.each([
    "9007199254740993",
    "-9007199254740995",
    "1.0",
    "1e400",
    "0.1000",
    "123456789012345678901234567890",
    "1E5",
    "12345678901234567e2",
  ])("keep their digits: %s", (digits) => {
    for (const text of [digits, `[${digits}]`, `{"a":${digits}}`, `{"a":[1,${digits}]}`])
      expect(writeExact(parseExact(text))).toBe(text);
    expect(numberText(parseExact(digits))).toBe(digits);
  });

  it("stay plain when a double holds them as they are written", () => {
    expect(parseExact('{"a":1,"b":-2.5,"c":"9007199254740993"}')).toEqual({
      a: 1,
      b: -2.5,
      c: "9007199254740993",
    });
    expect(isRawNumber(parseExact("0.25"))).toBe(false);
  });

  it("survive reading and writing whatever they are", () => {
    const number = fc.oneof(
      fc.bigInt().map(String),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
      fc.tuple(fc.integer(), fc.nat()).map(([whole, part]) => `${whole}.${part}`),
    );
    fc.assert(
      fc.property(fc.array(number), (digits) => {
        const text = `[${digits.map((one) => one.replace("e+", "e")).join(",")}]`;
        const again = writeExact(parseExact(text));
        expect(again.replaceAll("e+", "e").replaceAll("-0,", "0,").replace("-0]", "0]")).toBe(
          text.replaceAll("-0,", "0,").replace("-0]", "0]"),
        );
      }),
    );
  });

  it("can be made from digits, and from digits only", () => {
    expect(writeExact({ id: rawNumber("18446744073709551615") })).toBe(
      '{"id":18446744073709551615}',
    );
    expect(() => rawNumber('"text"')).toThrow(SyntaxError);
  });

  it("have a text of their digits without an exponent", () => {
    expect([
      numberText(1e21),
      numberText(5),
      numberText(1.5),
      numberText("5"),
      numberText(null),
    ]).toEqual(["1000000000000000000000", "5", "1.5", undefined, undefined]);
  });
});

describe("any other JSON", () => {
  it("is parsed as the engine does", () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: "small" }), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(writeExact(parseExact(text)))).toEqual(JSON.parse(text));
      }),
    );
  });

  it("keeps a member called __proto__ a member", () => {
    const parsed = parseExact('{"__proto__":{"x":1},"big":9007199254740993}') as object;
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(Object.keys(parsed)).toEqual(["__proto__", "big"]);
  });

  it("is refused without being quoted", () => {
    for (const text of [
      '{"token": hvs.SECRET}',
      '{"token":"hvs.SECRET',
      "hvs.SECRET",
      "",
      '{"a":1}hvs.SECRET',
    ]) {
      expect(() => parseExact(text)).toThrow(
        expect.objectContaining({ code: "invalid", rule: "json" }) as Error,
      );
      expect(causeOf(text)).toBeUndefined();
      expect(() => parseExact(text)).toThrow(
        /^failed to decode JSON input: it is not valid JSON( at position \d+)?$/,
      );
    }
  });

  it("is refused when it is no UTF-8 or begins with a mark", () => {
    expect(() => parseExact(Uint8Array.of(0x22, 0xff, 0x22))).toThrow("not valid JSON");
    expect(() => parseExact(Uint8Array.of(0xef, 0xbb, 0xbf, 0x31))).toThrow("not valid JSON");
    expect(parseExact(Buffer.from('"ä"'))).toBe("ä");
  });

  it("is refused beyond its limits before anything is built", () => {
    expect(() => parseExact("[[[1]]]", { bytes: 100, depth: 2, values: 9 })).toThrow(
      expect.objectContaining({ code: "too_large", rule: "depth" }) as Error,
    );
    expect(parseExact("[[1],[2],[3]]", { bytes: 100, depth: 2, values: 9 })).toEqual([
      [1],
      [2],
      [3],
    ]);
    expect(parseExact(String.raw`["[[[[\"[[\\"]`, { bytes: 100, depth: 1, values: 9 })).toEqual([
      String.raw`[[[["[[\ `.trim(),
    ]);
    expect(() => parseExact("[1]", { bytes: 2, depth: 2, values: 9 })).toThrow(
      expect.objectContaining({ code: "too_large", rule: "bytes" }) as Error,
    );
    expect(() => parseExact('[1,2,{"a":3}]', { bytes: 100, depth: 9, values: 3 })).toThrow(
      expect.objectContaining({ code: "too_large", rule: "values" }) as Error,
    );
    expect(parseExact('[1,",,,[[[{{{",{"a":3}]', { bytes: 100, depth: 9, values: 4 })).toEqual([
      1,
      ",,,[[[{{{",
      { a: 3 },
    ]);
    expect(() => parseExact("[".repeat(1_000_000))).toThrow(
      expect.objectContaining({ rule: "depth" }) as Error,
    );
  });
});
