import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import type { JsonBudget, JsonPath } from "../../../src/kernel/json/budget.ts";
import {
  parseValue,
  values,
  type Values,
  type ValuesOptions,
} from "../../../src/kernel/json/values.ts";

const ample: JsonBudget = { bytes: 1e9, depth: 64, stringBytes: 1e6, elements: 1e6 };
const forever = new AbortController().signal;
const options: ValuesOptions = { sliceMs: 5, signal: forever };

/** The bytes in pieces of the given lengths, over and over. */
async function* inPieces(
  bytes: Uint8Array,
  lengths: readonly number[],
): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = lengths.length === 0 ? bytes.length : (lengths[turn % lengths.length] ?? 1);
    yield bytes.subarray(at, at + length);
    at += length;
  }
}

const bytesOf = (text: string): Buffer => Buffer.from(text, "utf8");

function read(
  text: string | Uint8Array,
  at: "concatenated" | JsonPath,
  budget: Partial<JsonBudget> = {},
  pieces: readonly number[] = [],
): Values {
  return values(
    inPieces(typeof text === "string" ? bytesOf(text) : text, pieces),
    at,
    { ...ample, ...budget },
    options,
  );
}

async function all(stream: Values): Promise<unknown[]> {
  const elements: unknown[] = [];
  for await (const batch of stream) {
    expect(batch.length).toBeGreaterThan(0);
    for (const element of batch) elements.push(element);
  }
  return elements;
}

async function refusal(
  stream: Values,
): Promise<{ code: string; rule: string | undefined; offset: unknown; message: string }> {
  const error: unknown = await all(stream).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof StewardError)) throw new Error(`expected a refusal, got ${String(error)}`);
  return {
    code: error.code,
    rule: error.rule,
    offset: (error.facts as { offset: number }).offset,
    message: error.message,
  };
}

/** JSON texts with odd white space, escapes and every kind of value. */
const json = fc.json({ stringUnit: "binary", maxDepth: 5 });
const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const pieces = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });
const runs = { numRuns: 400 };

describe("values", () => {
  it("equals JSON.parse for any list and any cut of its bytes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(json, { maxLength: 6 }),
        space,
        pieces,
        async (elements, gap, lengths) => {
          const text = `${gap}[${gap}${elements.join(`${gap},${gap}`)}${gap}]${gap}`;
          expect(await all(read(text, [], {}, lengths))).toEqual(JSON.parse(text));
        },
      ),
      runs,
    );
  });

  it("finds the list at a path among other members, and reads the scalars beside it", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(json, { maxLength: 4 }),
        json,
        fc.jsonValue({ maxDepth: 1 }),
        fc.string({ unit: "binary" }),
        pieces,
        async (elements, other, beside, name, lengths) => {
          fc.pre(name !== "list");
          const text = `{"x": ${other}, "outer" :{"list": 1}, "in":{"before":${other},"list":[${elements.join(",")}] , ${JSON.stringify(name)}:${JSON.stringify(beside)} }, "list":[9]}`;
          const stream = read(text, ["in", "list"], {}, lengths);
          const parsed = JSON.parse(text) as { in: { list: unknown; before: unknown } };
          expect(await all(stream)).toEqual(parsed.in.list);
          const scalars = Object.entries(parsed.in).filter(
            ([, value]) => value === null || typeof value !== "object",
          );
          expect(new Map(stream.beside)).toEqual(new Map(scalars));
        },
      ),
      runs,
    );
  });

  it("reads concatenated values, with lines or nothing between them", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(json, { maxLength: 6 }), pieces, async (elements, lengths) => {
        const expected = elements.map((element) => JSON.parse(element) as unknown);
        expect(await all(read(elements.join("\n"), "concatenated", {}, lengths))).toEqual(expected);
      }),
      runs,
    );
    expect(await all(read('{"a":1}[2]"x"{}', "concatenated", {}, [1]))).toEqual([
      { a: 1 },
      [2],
      "x",
      {},
    ]);
    expect(await all(read(" \n", "concatenated"))).toEqual([]);
    for (const text of ["01", "1-2", "truefalse", "1[]"])
      expect(await refusal(read(text, "concatenated"))).toMatchObject({
        message: expect.stringContaining("white space"),
      });
  });

  it("refuses exactly what JSON.parse refuses, whatever byte was changed, dropped or cut off, and never returns short", async () => {
    const change = fc.record({
      at: fc.nat(),
      byte: fc.oneof(
        fc.constantFrom(...bytesOf('{}[],:"\\ 01.e-tn')),
        fc.integer({ min: 0, max: 255 }),
      ),
      how: fc.constantFrom("set", "drop", "cut"),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(json, { minLength: 1, maxLength: 4 }),
        change,
        pieces,
        async (elements, { at, byte, how }, lengths) => {
          const bytes = bytesOf(`[${elements.join(",")}]`);
          const where = at % bytes.length;
          const spoiled =
            how === "cut"
              ? bytes.subarray(0, where)
              : Buffer.concat([
                  bytes.subarray(0, where),
                  how === "set" ? Buffer.from([byte]) : Buffer.alloc(0),
                  bytes.subarray(where + 1),
                ]);
          const expected = strictParse(spoiled);
          const outcome = await all(read(spoiled, [], {}, lengths)).catch(
            (error: unknown) => error,
          );
          if (Array.isArray(expected)) expect(outcome).toEqual(expected);
          else
            expect(outcome).toMatchObject({
              code: "invalid",
              facts: { offset: expect.any(Number) },
            });
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("judges any bytes as JSON.parse does when they are one value", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          json,
          fc.stringMatching(/^[-+.eE0-9]{1,8}$/),
          fc.stringMatching(/^["\\u0-9a-f\n]{1,10}$/),
          fc.stringMatching(/^[tfnrualse]{1,5}$/),
        ),
        (text) => {
          const expected = strictParse(bytesOf(text));
          const parse = (): unknown => parseValue(bytesOf(text), ample);
          if (expected === BROKEN) expect(parse).toThrow(StewardError);
          else expect(parse()).toEqual(expected);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it.each([
    ["[1,2", 4, "is truncated"],
    ["", 0, "is truncated"],
    ["[1,]", 3, "expected a value"],
    ["[1 2]", 3, "a comma or ]"],
    ["[01]", 2, "a comma or ]"],
    ["[1.]", 3, "number that breaks off"],
    ['["a\nb"]', 3, "control character"],
    ['["\\x"]', 3, "an escape"],
    ['["\\u12g4"]', 6, "hexadecimal"],
    ["[tru]", 4, "expected true"],
    ["[{]", 2, "a name in quotes or }"],
    ['[{"a" 1}]', 6, "a colon"],
    ['[{"a":1]', 7, "a comma or }"],
    ["[] []", 3, "nothing more"],
    ["\ufeff[]", 0, "a value"],
    ['[{"a":1,}]', 8, "a name in quotes"],
    ["{}", 0, "a list at the top"],
  ])("says where %j breaks", async (text, offset, message) => {
    for (const cut of [[], [1]]) {
      const found = await refusal(read(text, [], {}, cut));
      expect(found).toMatchObject({ code: "invalid", offset });
      expect(found.message).toContain(message);
    }
  });

  it.each([
    ['["', [0xff], '"]', 2],
    ['["é', [0xe2, 0x82], '"]', 4],
    ['["', [0xed, 0xa0, 0x80], '"]', 2],
    ['["', [0xc0, 0x80], '"]', 2],
  ])("says which byte is no UTF-8 after %j", async (before, bad, after, offset) => {
    const bytes = Buffer.concat([bytesOf(before), Buffer.from(bad), bytesOf(after)]);
    for (const cut of [[], [1], [3]])
      expect(await refusal(read(bytes, [], {}, cut))).toMatchObject({
        code: "invalid",
        offset,
        message: expect.stringContaining("not UTF-8"),
      });
  });

  it("enforces each limit at its byte and lets pass what just fits", async () => {
    const exact = "[[1],22]";
    const limits: [Partial<JsonBudget>, Partial<JsonBudget>, string, string, number][] = [
      [{ bytes: 8 }, { bytes: 7 }, exact, "bytes", 7],
      [{ depth: 2 }, { depth: 1 }, exact, "depth", 1],
      [{ elements: 2 }, { elements: 1 }, exact, "elements", 5],
      [{ stringBytes: 4 }, { stringBytes: 3 }, '["ab\\n"]', "stringBytes", 5],
      [{ stringBytes: 2 }, { stringBytes: 1 }, '[{"ab":1}]', "stringBytes", 4],
    ];
    for (const [fits, small, text, rule, offset] of limits) {
      expect(await all(read(text, [], fits))).toEqual(JSON.parse(text));
      const found = await refusal(read(text, [], small));
      expect(found).toMatchObject({ code: "too_large", rule, offset });
      expect(await refusal(read(text, [], small, [1]))).toMatchObject({
        code: "too_large",
        rule,
        offset,
      });
    }
    expect(await all(read("[[1,2],[3,4]]", [], { elements: 2 }))).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(await refusal(read("1 2 3", "concatenated", { elements: 2 }))).toMatchObject({
      code: "too_large",
      rule: "elements",
    });
  });

  it("refuses an endless string and an endless nesting while they run, holding no more than the limit", async () => {
    let given = 0;
    async function* endless(first: string, then: string): AsyncGenerator<Uint8Array> {
      yield bytesOf(first);
      for (;;) {
        given += then.length;
        yield bytesOf(then);
      }
    }
    const limits = { bytes: 1e9, depth: 10, stringBytes: 1_000, elements: 100 };
    expect(
      await refusal(values(endless('["', "x".repeat(100)), [], limits, options)),
    ).toMatchObject({ rule: "stringBytes" });
    expect(await refusal(values(endless("[", "[[["), [], limits, options))).toMatchObject({
      rule: "depth",
    });
    expect(await refusal(values(endless("[0", ",[]"), [], limits, options))).toMatchObject({
      rule: "elements",
    });
    expect(
      await refusal(values(endless("", "    "), [], { ...limits, bytes: 5_000 }, options)),
    ).toMatchObject({ rule: "bytes" });
    expect(given).toBeLessThan(10_000);
  });

  it("says when the list is not there, is something else or is given twice", async () => {
    expect(await refusal(read('{"a":1}', ["list"]))).toMatchObject({
      message: expect.stringContaining('no list at "list"'),
    });
    expect(await refusal(read('{"list":{}}', ["list"]))).toMatchObject({ offset: 8 });
    expect(await refusal(read('{"list":null}', ["list"]))).toMatchObject({ offset: 8 });
    expect(await refusal(read('{"list":[1],"list":[2]}', ["list"]))).toMatchObject({
      message: expect.stringContaining("twice"),
    });
    expect(await refusal(read('{"a":[1]}', ["a", "b"]))).toMatchObject({ offset: 5 });
    for (const text of ['{"a":1}', '{"list":null}']) {
      expect(
        await all(
          values(inPieces(bytesOf(text), []), ["list"], ample, { ...options, missing: "empty" }),
        ),
      ).toEqual([]);
    }
  });

  it("takes null for an empty list, but not its absence, when told so", async () => {
    const withNull = (text: string) =>
      values(inPieces(bytesOf(text), []), ["list"], ample, { ...options, missing: "null" });
    expect(await all(withNull('{"a":1,"list":null,"b":2}'))).toEqual([]);
    expect(await refusal(withNull('{"a":1}'))).toMatchObject({
      message: expect.stringContaining("there is no list"),
    });
    expect(await refusal(withNull('{"list":0}'))).toMatchObject({ offset: 8 });
  });

  it("reads the scalars after the list too, and the last of several counts", async () => {
    const stream = read(
      '{"count":2,"results":[{"id":1},{"id":2}],"next":null,"count":3,"__proto__":"x","all":[1,2]}',
      ["results"],
      {},
      [1],
    );
    expect(await all(stream)).toEqual([{ id: 1 }, { id: 2 }]);
    expect([...stream.beside]).toEqual([
      ["next", null],
      ["count", 3],
      ["__proto__", "x"],
    ]);
  });

  it("hands out what is whole before the source goes on", async () => {
    let asked = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      for (const text of ['[1,{"a', '":2},3', ",4]"]) {
        asked += 1;
        yield bytesOf(text);
      }
    }
    const seen: unknown[] = [];
    for await (const batch of values(source(), [], ample, options)) seen.push([asked, batch]);
    expect(seen).toEqual([
      [1, [1]],
      [2, [{ a: 2 }]],
      [3, [3, 4]],
    ]);
  });

  it("ends with the signal's reason although the source hangs, and leaves the source", async () => {
    const stop = new AbortController();
    let left = false;
    const source: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => undefined),
        return: () => {
          left = true;
          return new Promise(() => undefined);
        },
      }),
    };
    const reading = all(values(source, [], ample, { sliceMs: 5, signal: stop.signal }));
    stop.abort(new StewardError("cancelled", "stopped"));
    await expect(reading).rejects.toMatchObject({ code: "cancelled", message: "stopped" });
    expect(left).toBe(true);
  });

  it("lets the event loop turn while a large body is read, and stops in the middle when told", async () => {
    const body = bytesOf(
      `[${Array.from({ length: 200_000 }, (_, id) => `{"id":${id},"name":"device ${id}"}`).join(",")}]`,
    );
    let turns = 0;
    let running = true;
    const spin = (): void =>
      void setImmediate(() => {
        turns += 1;
        if (running) spin();
      });
    spin();
    expect(
      await all(values(inPieces(body, []), [], ample, { sliceMs: 1, signal: forever })),
    ).toHaveLength(200_000);
    running = false;
    expect(turns).toBeGreaterThan(10);

    const stop = new AbortController();
    const stream = values(inPieces(body, []), [], ample, { sliceMs: 1, signal: stop.signal })[
      Symbol.asyncIterator
    ]();
    await stream.next();
    stop.abort(new StewardError("cancelled", "enough"));
    await expect(stream.next()).rejects.toMatchObject({ message: "enough" });
  });

  it("passes on what the source throws", async () => {
    async function* source(): AsyncGenerator<Uint8Array> {
      yield bytesOf("[1");
      throw new StewardError("upstream", "reset");
    }
    await expect(all(values(source(), [], ample, options))).rejects.toMatchObject({
      code: "upstream",
      message: "reset",
    });
  });

  it("is not misled by a source that reuses its buffer", async () => {
    async function* source(): AsyncGenerator<Uint8Array> {
      const shared = Buffer.alloc(3);
      for (const text of ['["a', "bc1", '23"', ',"d', 'e"]']) {
        shared.write(text);
        yield shared.subarray(0, text.length);
      }
    }
    expect(await all(values(source(), [], ample, options))).toEqual(["abc123", "de"]);
  });
});

const BROKEN = Symbol("broken");

/** JSON.parse of bytes that must be UTF-8 without a byte order mark. */
function strictParse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(
      new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes),
    ) as unknown;
  } catch {
    return BROKEN;
  }
}
