import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundName, MAX_NAME_BYTES } from "../../../../src/kernel/base/text/bounded-name.ts";

/** Texts around the limit, of characters of one to four bytes and halves of surrogate pairs. */
const unit = fc.constantFrom("a", "é", "€", "😀", "\ud83d", "\ude00", "\0");
const names = fc
  .tuple(fc.array(unit, { maxLength: 8 }), unit, fc.nat(1_100), fc.array(unit, { maxLength: 8 }))
  .map(([head, filling, count, tail]) => [...head, filling.repeat(count), ...tail].join(""));

describe("a name that somebody else chose", () => {
  it("is at most 1,024 bytes long, well-formed, and the same when it is bounded twice", () => {
    fc.assert(
      fc.property(names, (name) => {
        const bounded = boundName(name);
        expect(Buffer.byteLength(bounded)).toBeLessThanOrEqual(MAX_NAME_BYTES);
        expect(bounded.isWellFormed()).toBe(true);
        expect(Buffer.from(bounded).toString()).toBe(bounded);
        expect(boundName(bounded)).toBe(bounded);
      }),
      { numRuns: 2_000 },
    );
  });

  it("stays as it is when it fits and is well-formed", () => {
    fc.assert(
      fc.property(names, (name) => {
        if (name.isWellFormed() && Buffer.byteLength(name) <= MAX_NAME_BYTES)
          expect(boundName(name)).toBe(name);
      }),
      { numRuns: 1_000 },
    );
    for (const name of ["", "a".repeat(1_024), "é".repeat(512), "😀".repeat(256)])
      expect(boundName(name)).toBe(name);
  });

  it("stays apart from every other name, however late they differ", () => {
    fc.assert(
      fc.property(names, names, (left, right) => {
        expect(boundName(left) === boundName(right)).toBe(left === right);
      }),
      { numRuns: 2_000 },
    );
    const long = "x".repeat(1_000_000);
    expect(
      new Set(
        [`${long}1`, `${long}2`, long, `a\ud800`, `a\ud801`, `a\udc00`, "a\ufffd"].map(boundName),
      ).size,
    ).toBe(7);
  });

  it("begins as it was, up to a whole code point before the mark and the hash", () => {
    const bounded = boundName(`${"a".repeat(1_001)}😀${"b".repeat(100)}`);
    expect(bounded).toMatch(/^a{1001}…~[0-9a-f]{16}$/);
    expect(boundName("😀".repeat(300))).toMatch(/^(?:😀){251}…~[0-9a-f]{16}$/u);
    expect(boundName("a\ud800b")).toMatch(/^a\ufffdb…~[0-9a-f]{16}$/);
  });
});
