import { expect, it } from "vitest";
import { bytesIn, copyPieces } from "../../../src/kernel/base/pieces.ts";

it("Pieces are counted and copied in their order, to the beginning of what has room for them", () => {
  const pieces = [Uint8Array.of(1, 2), Uint8Array.of(), Uint8Array.of(3)];
  expect([bytesIn(pieces), bytesIn([])]).toEqual([3, 0]);
  expect(Array.from(copyPieces(pieces, new Uint8Array(new SharedArrayBuffer(5))))).toEqual([
    1, 2, 3, 0, 0,
  ]);
  expect(() => copyPieces(pieces, new Uint8Array(2))).toThrow(RangeError);
});
