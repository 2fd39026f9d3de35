import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineSplitter } from "../../../src/dedup/archives/lines.ts";

function split(
  bytes: Buffer,
  sizes: readonly number[],
  limitBytes: number,
): (string | undefined)[] {
  const splitter = createLineSplitter(limitBytes);
  const lines = [];
  for (let at = 0, next = 0; at < bytes.length; next++) {
    const size = sizes.length === 0 ? bytes.length : Math.max(1, sizes[next % sizes.length] ?? 1);
    lines.push(...splitter.push(bytes.subarray(at, at + size)));
    at += size;
  }
  lines.push(...splitter.end());
  expect(lines.map(({ number }) => number)).toEqual(lines.map((_, at) => at + 1));
  return lines.map(({ bytes }) =>
    bytes === undefined ? undefined : Buffer.from(bytes).toString(),
  );
}

describe("the line splitter", () => {
  it("gives the same lines however the bytes are cut into chunks", () => {
    const piece = fc.constantFrom(
      "",
      "a",
      "bc",
      "é",
      "😀",
      "x".repeat(20),
      "x".repeat(21),
      "x".repeat(22),
      "\n",
      "\r\n",
      "\n\n",
      "\r",
      "\ufeff",
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 8 }),
        (pieces, sizes) => {
          const text = pieces.join("");
          const unmarked = text.startsWith("\ufeff") ? text.slice(1) : text;
          const parts = unmarked.split("\n");
          if (parts.at(-1) === "") parts.pop();
          const wanted = parts
            .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line))
            .map((line) => (Buffer.byteLength(line) <= 21 ? line : undefined));
          const got = split(Buffer.from(text), sizes, 21);
          if (text === "\ufeff") expect(got).toEqual([""]);
          // A first line that only fits without its byte order mark may be refused: the limit is of
          // what is held.
          else
            expect(
              got.map((line, at) =>
                at === 0 && text !== unmarked && line === undefined ? wanted[0] : line,
              ),
            ).toEqual(wanted);
        },
      ),
    );
  });

  it("holds no more than the limit of a line without end", () => {
    const splitter = createLineSplitter(1_000);
    for (let at = 0; at < 100; at++) expect(splitter.push(Buffer.alloc(500, "x"))).toEqual([]);
    const [long, next] = splitter.push(Buffer.from("\nshort\n"));
    expect(long).toMatchObject({ number: 1, bytes: undefined });
    expect(Buffer.from(next?.bytes ?? []).toString()).toBe("short");
  });
});
