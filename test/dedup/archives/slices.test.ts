import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { halve, sliceLines } from "../../../src/dedup/archives/slices.ts";
import type { Slice } from "../../../src/dedup/archives/slices.ts";
import { gather } from "./reading.ts";

function slicesOf(
  bytes: Buffer,
  sizes: readonly number[],
  limits: { slice: number; line: number },
): Promise<Slice[]> {
  // eslint-disable-next-line @typescript-eslint/require-await
  async function* chunks() {
    for (let at = 0, next = 0; at < bytes.length; next++) {
      const size = sizes.length === 0 ? bytes.length : (sizes[next % sizes.length] ?? 1);
      yield { bytes: bytes.subarray(at, at + size), fraction: (at + size) / bytes.length };
      at += size;
    }
  }
  return gather(sliceLines(chunks(), limits));
}

const linesIn = (text: string): number => text.split("\n").length - 1;

describe("the slices of a stream", () => {
  it("are the stream, cut after line ends only, whatever its chunks", async () => {
    const piece = fc.constantFrom("", "a", "é😀", "x".repeat(20), "\n", "\r\n", "\n\n");
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 40 }),
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 50 }),
        async (pieces, sizes, slice) => {
          const all = Buffer.from(pieces.join(""));
          const slices = await slicesOf(all, sizes, { slice, line: 1_000 });
          let at = 0;
          for (const [i, { bytes, offset, firstLine }] of slices.entries()) {
            expect(offset).toBe(at);
            expect(firstLine).toBe(1 + linesIn(all.subarray(0, at).toString("latin1")));
            if (i < slices.length - 1) expect(bytes?.at(-1)).toBe(10);
            expect(Buffer.from(bytes ?? [])).toEqual(all.subarray(at, at + (bytes?.length ?? 0)));
            at += bytes?.length ?? 0;
          }
          expect(at).toBe(all.length);
        },
      ),
    );
  });

  it("leave out a line over the limit, alone, and number those around it right", async () => {
    const text = `one\ntwo\n${"x".repeat(500)}\nfour\n${"y".repeat(300)}\nsix`;
    for (const size of [1, 7, 64]) {
      const slices = await slicesOf(Buffer.from(text), [size], { slice: 4, line: 100 });
      const held = slices.map(({ bytes, firstLine, offset }) => [
        firstLine,
        offset,
        bytes && Buffer.from(bytes).toString(),
      ]);
      expect(held.filter(([, , bytes]) => bytes === undefined)).toEqual([
        [3, 8, undefined],
        [5, 514, undefined],
      ]);
      expect(held.map(([, , bytes]) => bytes ?? "").join("")).toBe("one\ntwo\nfour\nsix");
      expect(held.at(-1)).toEqual([6, 815, "six"]);
    }
  });

  it("can be halved down to their lines", async () => {
    const [slice] = await slicesOf(Buffer.from("a\nbb\nccc\nd"), [], { slice: 100, line: 100 });
    const parts = (one: Slice): Slice[] => halve(one)?.flatMap(parts) ?? [one];
    expect(
      parts(slice as Slice).map(({ bytes, firstLine, offset }) => [
        firstLine,
        offset,
        Buffer.from(bytes ?? []).toString(),
      ]),
    ).toEqual([
      [1, 0, "a\n"],
      [2, 2, "bb\n"],
      [3, 5, "ccc\n"],
      [4, 9, "d"],
    ]);
  });
});
