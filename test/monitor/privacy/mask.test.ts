import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MASK, mask } from "../../../src/monitor/privacy/mask.ts";

describe("Masking", () => {
  it("takes the longer of two secrets at one place, and everything literally", () => {
    expect(mask("ada@corp.test and ada, not a.a", ["ada", "ada@corp.test"])).toBe(
      "[redacted] and [redacted], not a.a",
    );
    expect(mask("a.c abc (x)|[y]", ["a.c", "(x)|[y]"])).toBe("[redacted] abc [redacted]");
  });

  it("does not look at what it put in", () => {
    expect(mask("it was red", ["red", "was"])).toBe("it [redacted] [redacted]");
  });

  it("leaves a text alone in which there is none", () => {
    expect(mask("nothing", ["", "something"])).toBe("nothing");
  });

  it("leaves no secret in what it did not put in, and each piece as it was", () => {
    const letters = fc.string({
      unit: fc.constantFrom("a", "b", "c", ".", "*", "\\"),
      maxLength: 30,
    });
    const secrets = fc.array(
      fc.string({ unit: fc.constantFrom("a", "b", ".", "*", "\\"), minLength: 1, maxLength: 4 }),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(letters, secrets, (text, hidden) => {
        const pieces = mask(text, hidden).split(MASK);
        for (const piece of pieces)
          for (const secret of hidden) expect(piece).not.toContain(secret);
        let from = 0;
        for (const piece of pieces) {
          const at = text.indexOf(piece, from);
          expect(at).toBeGreaterThanOrEqual(from);
          from = at + piece.length;
        }
      }),
    );
  });
});
