import { expect, it } from "vitest";
import { readCursor, writeCursor } from "../../../src/monitor/events/cursor.ts";

it("a cursor is read back, and is the text that existing readers know", () => {
  expect(writeCursor(17)).toBe(Buffer.from("v1:17").toString("base64url"));
  expect([0, 1, 2 ** 40].map((seq) => readCursor(writeCursor(seq)))).toEqual([0, 1, 2 ** 40]);
});

it.each(["", "x", "v1:17", "djI6MTc", Buffer.from("v1:-1").toString("base64url"), "d".repeat(999)])(
  "%s is no cursor",
  (text) => {
    expect(readCursor(text)).toBeUndefined();
  },
);
