import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coerce, type Kind } from "../../../src/tokens/logical/coerce.ts";
import { GoValueError } from "../../../src/tokens/logical/go-values.ts";
import { parseExact } from "../../../src/tokens/logical/json.ts";

type Row = readonly [value: unknown, kind: Exclude<Kind, "any">, expected: unknown];

const pairs = (entries: Readonly<Record<string, string>>): ReadonlyMap<string, string> =>
  new Map(Object.entries(entries));

/** A text of as many characters as a list or a map may have, and its halves. */
const MIB = "x".repeat(2 ** 20);
const halves = [MIB.slice(2 ** 19), MIB.slice(2 ** 19)];

describe("a field's value", () => {
  it.each<Row>([
    [5, "integer", 5],
    ["5", "integer", 5],
    [true, "integer", 1],
    [false, "integer", 0],
    [1.7, "integer", 1],
    [-1.7, "integer", -1],
    [-5, "integer", -5],
    [null, "integer", 0],
    ["", "integer", 0],
    [parseExact("1.0"), "integer", 1],
    [parseExact("1e3"), "integer", 1000],
    ["text", "text", "text"],
    [5, "text", "5"],
    [1.5, "text", "1.5"],
    [true, "text", "1"],
    [false, "text", "0"],
    [null, "text", ""],
    [parseExact("9007199254740993"), "text", "9007199254740993"],
    [true, "boolean", true],
    ["1", "boolean", true],
    ["t", "boolean", true],
    ["True", "boolean", true],
    ["0", "boolean", false],
    ["", "boolean", false],
    [1, "boolean", true],
    [0, "boolean", false],
    [0.5, "boolean", true],
    [null, "boolean", false],
    ["1h", "duration", 3_600_000],
    [60, "duration", 60_000],
    ["60", "duration", 60_000],
    [1.7, "duration", 1_000],
    [null, "duration", 0],
    ["a, b", "comma_texts", ["a", "b"]],
    [["a", "b"], "comma_texts", ["a", "b"]],
    ['["a","b"]', "comma_texts", ["a", "b"]],
    [",a,,b,", "comma_texts", ["a", "b"]],
    ["", "comma_texts", []],
    [[], "comma_texts", []],
    [[1, true], "comma_texts", ["1", "1"]],
    [" a ", "comma_texts", ["a"]],
    [5, "comma_texts", ["5"]],
    [null, "comma_texts", []],
    [{}, "comma_texts", []],
    ["[a", "comma_texts", ["[a"]],
    [["a,b"], "comma_texts", ["a,b"]],
    ["a,b", "texts", ["a,b"]],
    [["a", 1], "texts", ["a", "1"]],
    ["1,2", "comma_integers", [1, 2]],
    [[1, "2"], "comma_integers", [1, 2]],
    [7, "comma_integers", [7]],
    ["[1,2]", "comma_integers", [1, 2]],
    ["", "comma_integers", []],
    ["3", "integers", [3]],
    [{ contents: "read", issues: 1 }, "pairs", pairs({ contents: "read", issues: "1" })],
    [["a=b", "c=d"], "pairs", pairs({ a: "b", c: "d" })],
    ["a=read", "pairs", pairs({ a: "read" })],
    ["a=read,b=write", "pairs", pairs({ a: "read", b: "write" })],
    ["a=read, b=write,", "pairs", pairs({ a: "read", b: "write" })],
    ['{"a":"read"}', "pairs", pairs({ a: "read" })],
    ['["a=read"]', "pairs", pairs({ a: "read" })],
    [["a=read,b=write", "c=read"], "pairs", pairs({ a: "read", b: "write", c: "read" })],
    ["", "pairs", pairs({})],
    [{}, "pairs", pairs({})],
    [null, "pairs", pairs({})],
    ["a=b=c", "pairs", pairs({ a: "b=c" })],
    ["a=", "pairs", pairs({ a: "" })],
    [[{ a: "read" }, { b: "write" }], "pairs", pairs({ a: "read", b: "write" })],
  ])("%j becomes as %s: %j", (value, kind, expected) => {
    expect(coerce(value, kind)).toEqual(expected);
  });

  it.each<readonly [unknown, Exclude<Kind, "any">, string]>([
    ["abc", "integer", "cannot parse '' as int: strconv.ParseInt: parsing \"abc\": invalid syntax"],
    ["1.7", "integer", "cannot parse '' as int: strconv.ParseInt: parsing \"1.7\": invalid syntax"],
    [
      parseExact("9007199254740993"),
      "integer",
      "cannot parse '' as int: strconv.ParseInt: parsing \"9007199254740993\": value out of range",
    ],
    [
      parseExact("1e400"),
      "integer",
      "cannot parse '' as int: strconv.ParseInt: parsing \"1e400\": value out of range",
    ],
    [[1, 2], "integer", "'' expected type 'int', got unconvertible type '[]interface {}'"],
    [
      { a: 1 },
      "text",
      "'' expected type 'string', got unconvertible type 'map[string]interface {}'",
    ],
    [
      "maybe",
      "boolean",
      "cannot parse '' as bool: strconv.ParseBool: parsing \"maybe\": invalid syntax",
    ],
    [
      "1,x",
      "comma_integers",
      "1 error(s) decoding:\n\n* cannot parse '[1]' as int: strconv.ParseInt: parsing \"x\": invalid syntax",
    ],
    [
      ["x", 1, "y"],
      "comma_integers",
      "2 error(s) decoding:\n\n* cannot parse '[0]' as int: strconv.ParseInt: parsing \"x\": invalid syntax\n* cannot parse '[2]' as int: strconv.ParseInt: parsing \"y\": invalid syntax",
    ],
    ["contents", "pairs", 'invalid key pair "contents"'],
    ["=read", "pairs", 'invalid key pair "=read"'],
    [["a=b", "c"], "pairs", 'invalid key pair "c"'],
    [5, "pairs", 'invalid key pair "5"'],
    [
      [{ a: 1 }],
      "comma_texts",
      "1 error(s) decoding:\n\n* '[0]' expected type 'string', got unconvertible type 'map[string]interface {}'",
    ],
    [-5, "duration", "cannot provide negative value"],
  ])("%j is refused as %s: %s", (value, kind, message) => {
    expect(() => coerce(value, kind)).toThrow(new GoValueError(message));
  });

  it.each<readonly [string, unknown, Exclude<Kind, "any">, string]>([
    ["a list", [...halves, "x"], "texts", "a list has more than 1048576 characters"],
    ["a list of one", `${MIB}x`, "comma_texts", "a list has more than 1048576 characters"],
    ["a map", { a: MIB }, "pairs", "a map has more than 1048576 characters"],
    [
      "pairs",
      halves.map((half, at) => `${at}=${half}`),
      "pairs",
      "a map has more than 1048576 characters",
    ],
    [
      "integers",
      [parseExact(MIB.replaceAll("x", "1")), 1],
      "integers",
      "a list has more than 1048576 characters",
    ],
    [
      "a long list",
      Array.from({ length: 10_001 }, () => "x"),
      "texts",
      "a list has more than 10000 items",
    ],
  ])("%s that is too large is refused whole", (_what, value, kind, message) => {
    expect(() => coerce(value, kind)).toThrow(new GoValueError(message));
  });

  it("may fill a list and a map to the last character", () => {
    expect(coerce(halves, "texts")).toEqual(halves);
    expect(coerce({ a: MIB.slice(1) }, "pairs")).toEqual(pairs({ a: MIB.slice(1) }));
  });

  it("is coerced or refused with a Go text, whatever it is", () => {
    const kinds: readonly Exclude<Kind, "any">[] = [
      "text",
      "integer",
      "boolean",
      "duration",
      "texts",
      "comma_texts",
      "integers",
      "comma_integers",
      "pairs",
    ];
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), fc.string()),
        fc.constantFrom(...kinds),
        (value, kind) => {
          try {
            const coerced = coerce(value, kind);
            if (kind === "integer") expect(Number.isSafeInteger(coerced)).toBe(true);
            if (kind === "comma_texts")
              for (const item of coerced as readonly string[]) expect(item).toBe(item.trim());
          } catch (error) {
            expect(error).toBeInstanceOf(GoValueError);
          }
        },
      ),
    );
  });

  it("means the same as text, list and JSON", () => {
    const name = fc.stringMatching(/^[a-z][a-z0-9._-]{0,20}$/);
    fc.assert(
      fc.property(fc.uniqueArray(name, { maxLength: 20 }), (names) => {
        for (const form of [names, names.join(","), names.join(" , "), JSON.stringify(names)])
          expect(coerce(form, "comma_texts")).toEqual(names);
        const object = Object.fromEntries(names.map((one) => [one, "read"]));
        const list = names.map((one) => `${one}=read`);
        for (const form of [
          object,
          JSON.stringify(object),
          list,
          list.join(","),
          JSON.stringify(list),
        ])
          expect(Object.fromEntries(coerce(form, "pairs") as ReadonlyMap<string, string>)).toEqual(
            object,
          );
      }),
    );
  });

  it("never quotes what might be secret: the value of a text field", () => {
    expect(() => coerce({ key: "SECRET" }, "text")).toThrow(
      expect.not.objectContaining({
        message: expect.stringContaining("SECRET") as string,
      }) as Error,
    );
  });
});
