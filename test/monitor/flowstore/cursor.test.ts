import { expect, it } from "vitest";
import { readCursor, writeCursor } from "../../../src/monitor/flowstore/cursor.ts";

it("a cursor of flows is read as it was written, and anything else is none", () => {
  const position = { timeMs: 1_700_000_000_123, seq: 42 };
  expect(readCursor(writeCursor(position))).toEqual(position);
  for (const wrong of ["", "x", Buffer.from("v1:42").toString("base64url"), "9".repeat(100)])
    expect(readCursor(wrong)).toBeUndefined();
});
