import { array, assert, integer, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import {
  shared,
  TextBlocks,
  type Pieces,
} from "../../../../src/monitor/status/document/text-blocks.ts";

function blocksOf(texts: readonly string[]): Pieces {
  const blocks = new TextBlocks();
  for (const text of texts) blocks.add(text);
  return blocks.pieces();
}

describe("Text in blocks", () => {
  it("is what was added, however it was cut", () => {
    const text = string({ unit: "binary", maxLength: 50 }).filter((one) => one.isWellFormed());
    assert(
      property(array(text, { maxLength: 8 }), integer({ min: 1, max: 30_000 }), (texts, times) => {
        const all = texts.map((one) => one.repeat(times));
        expect(Buffer.concat(blocksOf(all)).equals(Buffer.from(all.join("")))).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it("lies in memory that all threads see, a megabyte each; a short one in one plain piece", () => {
    const long = blocksOf(["ä".repeat(600_000), "b".repeat(900_000)]);
    expect([
      long.map(({ length }) => length),
      long.every(({ buffer }) => buffer instanceof SharedArrayBuffer),
    ]).toEqual([[2 ** 20, 2 ** 20, 2_100_000 - 2 ** 21], true]);
    expect(blocksOf(["b".repeat(2 ** 20)]).map(({ length }) => length)).toEqual([2 ** 20]);
    const short = blocksOf(["a", "b"]);
    expect([short.length, short[0]?.buffer instanceof SharedArrayBuffer]).toEqual([1, false]);
    expect(Buffer.concat(blocksOf([])).length).toBe(0);
  });
});

describe("Pieces that are shared", () => {
  it("stay the very same, and what stands between them comes in one piece each", () => {
    const [long] = blocksOf(["c".repeat(100_000)]);
    if (long === undefined) throw new Error("there is one");
    const pieces = shared([
      Buffer.from("{"),
      Buffer.from('"a": '),
      long,
      Buffer.from(","),
      Buffer.from("d"),
      long,
      Buffer.from("}"),
    ]);
    expect(pieces.map(({ length }) => length)).toEqual([6, 100_000, 2, 100_000, 1]);
    expect([
      pieces[1] === long,
      pieces[3] === long,
      pieces.every(({ buffer }) => buffer instanceof SharedArrayBuffer),
    ]).toEqual([true, true, true]);
    expect(Buffer.concat(pieces).toString()).toBe(
      `{"a": ${"c".repeat(100_000)},d${"c".repeat(100_000)}}`,
    );
    expect(shared([])).toEqual([]);
  });
});
