import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseTree, type TreeLimits } from "../../../src/kernel/json/tree.ts";

const limits: TreeLimits = {
  depth: 32,
  values: 100_000,
  members: 100_000,
  numberLength: 1_024,
  nameBytes: 1_000_000,
};

function bytes(text: string): Uint8Array {
  return Buffer.from(text);
}

/** The outcome of either parser, so that both can be compared. */
async function outcome(parse: () => unknown): Promise<unknown> {
  try {
    return { value: await parse() };
  } catch {
    return "refused";
  }
}

/**
 * Strings around the size at which they are decoded in pieces, full of escapes and of characters of
 * all lengths.
 */
const longString = fc
  .tuple(
    fc.array(fc.constantFrom("a", "é", "漢", "😀", "\\", '"', "\n", "\u0000", "\ud800", "\\u"), {
      minLength: 1,
      maxLength: 12,
    }),
    fc.integer({ min: 60_000, max: 140_000 }),
  )
  .map(([units, length]) => units.join("").repeat(Math.ceil(length / units.join("").length)));

describe("a JSON text that is read in turns", () => {
  it("has the value that JSON.parse gives it", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 6 }), fc.constantFrom(0, 1, 2), async (text, indent) => {
        const written = JSON.stringify(JSON.parse(text), undefined, indent);
        expect(await parseTree(bytes(written), { limits })).toEqual(JSON.parse(written));
      }),
      { numRuns: 300 },
    );
  });

  it("has the value that JSON.parse gives it over many steps and with long strings", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.jsonValue({ maxDepth: 3 }),
            fc.dictionary(fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true })),
            longString,
          ),
          { maxLength: 40 },
        ),
        fc.boolean(),
        async (values, escaped) => {
          const plain = JSON.stringify({ values });
          const text = escaped
            ? plain.replaceAll(
                /[\u0080-\uffff]/g,
                (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
              )
            : plain;
          expect(await parseTree(bytes(text), { limits })).toEqual(JSON.parse(text));
        },
      ),
      { numRuns: 40 },
    );
  });

  it("is refused when JSON.parse refuses it, and only then", async () => {
    const damaged = fc
      .tuple(
        fc.json({ maxDepth: 4 }),
        fc.nat(),
        fc.constantFrom(
          "",
          "{",
          "}",
          "[",
          "]",
          ",",
          ":",
          '"',
          "\\",
          "1",
          "-",
          ".",
          "e",
          "t",
          "null",
          " ",
          "\u0001",
          "\u00a0",
        ),
      )
      .map(([text, at, piece]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + piece + text.slice(place + (at % 3));
      })
      .filter((text) => text.isWellFormed());
    await fc.assert(
      fc.asyncProperty(damaged, async (text) => {
        expect(await outcome(() => parseTree(bytes(text), { limits }))).toEqual(
          await outcome(() => JSON.parse(text)),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it("keeps a member that is named like the prototype as a member", async () => {
    const value = (await parseTree(bytes('{"__proto__":{"a":1},"constructor":2}'), {
      limits,
    })) as object;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(Object.entries(value)).toEqual([
      ["__proto__", { a: 1 }],
      ["constructor", 2],
    ]);
  });

  it("tells of names that are given twice, wherever they stand", async () => {
    const twice: (readonly (string | number)[])[] = [];
    await parseTree(
      bytes(String.raw`{"a":1,"b":[{},{"c":1,"\u0063":2}],"a":3,"__proto__":1,"__proto__":2}`),
      { limits, twice: (path) => twice.push(path) },
    );
    expect(twice).toEqual([["b", 1, "c"], ["a"], ["__proto__"]]);
  });

  it("has its numbers as they are wanted", async () => {
    expect(
      await parseTree(bytes("[1.10,-0,1e400]"), { limits, number: (digits) => `<${digits}>` }),
    ).toEqual(["<1.10>", "<-0>", "<1e400>"]);
    expect(await parseTree(bytes("17"), { limits, number: (digits) => `<${digits}>` })).toBe(
      "<17>",
    );
  });

  it.each([
    ["depth", "[[[1]]]", { depth: 2 }],
    ["values", '[1,2,{"a":3}]', { values: 3 }],
    ["values", '{"a":1,"b":1,"c":1}', { values: 2 }],
    ["members", '[{"a":1,"b":1,"c":1}]', { members: 2 }],
    ["name", '{"abc":1}', { nameBytes: 2 }],
    ["number", "[12345]", { numberLength: 4 }],
    ["number", "1".repeat(100_000), {}],
    ["number", `[${"1".repeat(100_000)}`, {}],
    ["number", "12345", { numberLength: 4 }],
  ] as const)("is refused beyond its %s", async (rule, text, less) => {
    await expect(parseTree(bytes(text), { limits: { ...limits, ...less } })).rejects.toThrow(
      expect.objectContaining({ code: "too_large", rule }) as Error,
    );
  });

  it("is taken at its limits", async () => {
    expect(await parseTree(bytes("[[1]]"), { limits: { ...limits, depth: 2 } })).toEqual([[1]]);
    expect(await parseTree(bytes('[1,2,{"a":3}]'), { limits: { ...limits, values: 4 } })).toEqual([
      1,
      2,
      { a: 3 },
    ]);
    expect(
      await parseTree(bytes('[{"a":1,"b":1},1,2,3]'), {
        limits: { ...limits, members: 2, nameBytes: 1 },
      }),
    ).toEqual([{ a: 1, b: 1 }, 1, 2, 3]);
    expect(await parseTree(bytes("[1234]"), { limits: { ...limits, numberLength: 4 } })).toEqual([
      1234,
    ]);
  });

  it("that is no UTF-8 is refused at the byte", async () => {
    await expect(
      parseTree(
        Buffer.concat([bytes(`"${"é".repeat(50_000)}`), Uint8Array.of(0xc3, 0x28), bytes('"')]),
        { limits },
      ),
    ).rejects.toThrow(
      expect.objectContaining({
        code: "invalid",
        rule: "json",
        facts: { offset: 100_001 },
      }) as Error,
    );
  });

  it("lets others work in between", async () => {
    let turns = 0;
    let reading = true;
    const count = (): void => {
      turns += 1;
      if (reading) setImmediate(count);
    };
    setImmediate(count);
    await parseTree(
      bytes(JSON.stringify(Array.from({ length: 90_000 }, (_, at) => `text ${at}`))),
      { limits },
    );
    reading = false;
    expect(turns).toBeGreaterThan(3);
  });
});
