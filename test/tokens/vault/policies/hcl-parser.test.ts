import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import {
  isList,
  isObject,
  MAX_POLICY_LENGTH,
  parseHcl,
  type HclNode,
  type HclObject,
} from "../../../../src/tokens/vault/policies/hcl-parser.ts";

/** The tree without places. */
function plain({ items }: HclObject): unknown[] {
  return items.map(({ name, labels, value }) => [
    name,
    ...labels.map(({ text }) => text),
    plainValue(value),
  ]);
}

function plainValue({ value }: HclNode): unknown {
  return isList(value) ? value.map(plainValue) : isObject(value) ? plain(value) : value;
}

function parsed(text: string): unknown[] {
  return plain(parseHcl(text).root);
}

function refusal(text: string): string {
  try {
    parseHcl(text);
  } catch (error) {
    expect(error).toBeInstanceOf(StewardError);
    expect((error as StewardError).code).toBe("invalid");
    return (error as StewardError).message;
  }
  throw new Error("it was taken");
}

describe("a policy's text", () => {
  it("holds blocks, attributes, lists, objects and every kind of value", () => {
    expect(
      parsed(`
      name = "x"
      path "a/*" { capabilities = ["read", "list",] min = 5, on = true
        nested { "quoted key" = [] inner { x = -1.5 } } }
    `),
    ).toEqual([
      ["name", "x"],
      [
        "path",
        "a/*",
        [
          ["capabilities", ["read", "list"]],
          ["min", 5],
          ["on", true],
          [
            "nested",
            [
              ["quoted key", []],
              ["inner", [["x", -1.5]]],
            ],
          ],
        ],
      ],
    ]);
  });

  it("may be commented in three ways", () => {
    expect(parsed('# one\n// two\n/* three\n path "no" {} */ a = 1 # four\nb = 2 // five')).toEqual(
      [
        ["a", 1],
        ["b", 2],
      ],
    );
  });

  it("knows the escapes of strings", () => {
    expect(parsed(String.raw`a = "q\" b\\ n\n t\t x\x41 u\u00e9 U\U0001F600 o\101"`)).toEqual([
      ["a", 'q" b\\ n\n t\t xA ué U😀 oA'],
    ]);
  });

  it("knows texts over several lines, with and without their indent", () => {
    expect(
      parsed("a = <<END\n  one\n two\nEND\nb = <<-END\n    one\n      two\n    END\n"),
    ).toEqual([
      ["a", "  one\n two\n"],
      ["b", "one\n  two\n"],
    ]);
  });

  it("keeps the digits of large numbers and reads hexadecimal ones", () => {
    const [a, b] = parseHcl("a = 9007199254740993 b = 0x1F").root.items;
    expect(JSON.stringify(a?.value.value)).toBe("9007199254740993");
    expect(b?.value.value).toBe(31);
  });

  it("may be JSON", () => {
    expect(
      parsed(String.raw`{"path": {"a\/b": {"capabilities": ["read"], "n": 1.0e3, "z": null}}}`),
    ).toEqual([
      [
        "path",
        [
          [
            "a/b",
            [
              ["capabilities", ["read"]],
              ["n", { rawJSON: "1.0e3" }],
              ["z", null],
            ],
          ],
        ],
      ],
    ]);
  });

  it.each([
    ['path "a" {', "line 1, column 11: found the end, expected a name"],
    [
      'path "a" {\n  capabilities = [read]\n}',
      'line 2, column 19: found "read", expected a value; strings need double quotes',
    ],
    ["a = 'x'", `line 1, column 5: "'" is not allowed at this position of a policy`],
    ['\n\na = "x\n"', "line 3, column 5: this string is not closed on its line"],
    [String.raw`a = "\q"`, "column 6: this escape is unknown"],
    [String.raw`a = "\ud800"`, "column 5: this string contains half of a surrogate pair"],
    ["/* x", "this comment is not closed"],
    ["a = <<END\nx", "this text is not closed: a line with only END is missing"],
    ["a 5", 'found "5", expected = or {'],
    ['path "a" = {}', 'found "=", expected {'],
    ["a = 010", "octal numbers are not supported"],
    ['{"a": 1 "b": 2}', 'found "b", expected a comma or }'],
    ['{"a": 1} x', "expected the end of the JSON text"],
    ["{a: 1}", 'found "a", expected a name'],
    [`a = ${"[".repeat(40)}`, "values may be nested at most 16 levels deep"],
    ["#".repeat(MAX_POLICY_LENGTH + 1), "a policy is at most"],
  ])("is refused with its place: %j", (text, why) => {
    expect(refusal(text)).toContain(why);
  });

  it("never does anything but parse or refuse", () => {
    const piece = fc.constantFrom(
      "path ",
      '"a/*"',
      "{",
      "}",
      "[",
      "]",
      "=",
      ",",
      ":",
      '"',
      "\\",
      "\n",
      "/*",
      "*/",
      "#",
      "//",
      "<<E\n",
      "E\n",
      "true",
      "0x1",
      "-5",
      "é",
      " ",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        try {
          parseHcl(pieces.join(""));
        } catch (error) {
          expect((error as StewardError).code).toBe("invalid");
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("means the same as JSON in JSON's own spelling", () => {
    const value = fc.letrec<{ node: unknown }>((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.array(tie("node"), { maxLength: 3 }),
        fc.dictionary(fc.string({ maxLength: 5 }), tie("node"), {
          maxKeys: 3,
          noNullPrototype: true,
        }),
      ),
    })).node;
    const expected = (one: unknown): unknown =>
      Array.isArray(one)
        ? one.map(expected)
        : typeof one === "object" && one !== null
          ? Object.entries(one).map(([name, inner]) => [name, expected(inner)])
          : one;
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), value, { maxKeys: 4, noNullPrototype: true }),
        (object) => {
          expect(parsed(JSON.stringify(object))).toEqual(expected(object));
        },
      ),
    );
  });
});
