import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shellWord } from "../../../../src/kernel/base/text/shell-word.ts";

describe("a word for the shell", () => {
  it("is one word, whatever it holds", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ minLength: 1, unit: "grapheme" }), { minLength: 1, maxLength: 20 }),
        (drawn) => {
          const words = drawn.map((word) => word.replaceAll("\0", "").toWellFormed() || "x");
          const script = `printf '%s\\0' ${words.map(shellWord).join(" ")}`;
          expect(execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0")).toEqual([
            ...words,
            "",
          ]);
        },
      ),
      { numRuns: 30 },
    );
  });

  it("stands as it is where it needs no quotes", () => {
    expect(["/etc/steward/a.yaml", "http://nas:8400", "a b", "it's"].map(shellWord)).toEqual([
      "/etc/steward/a.yaml",
      "http://nas:8400",
      "'a b'",
      "'it'\\''s'",
    ]);
  });
});
