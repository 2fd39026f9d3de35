import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { printable } from "../../../../src/kernel/base/text/printable.ts";

describe("printable", () => {
  it.each([
    ["plain – Ünïcödé 日本 👨‍👩‍👧", "plain – Ünïcödé 日本 👨‍👩‍👧"],
    ["a\nb\tc\r", "a\\nb\\tc\\r"],
    ["\u001b[31mred\u0007", "\\u001b[31mred\\u0007"],
    ["\u009b2J", "\\u009b2J"],
    ["gpj\u202etxt.exe", "gpj\\u202etxt.exe"],
    ["\ud800x", "\\ud800x"],
    ["\u2028", "\\u2028"],
  ])("writes %j as %j", (text, expected) => {
    expect(printable(text)).toBe(expected);
  });

  it("never leaves anything a terminal obeys", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        (text) => !/[\p{Cc}\p{Cs}]/u.test(printable(text)),
      ),
    );
  });
});
