import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compressText, storedText } from "../../../workers/text/compress.ts";
import { MAX_TEXT_UNITS, normalise, sampleOf } from "../../../workers/text/normalise.ts";
import { countWords, textHash } from "./identity.ts";

/** A text handed to a task, as a string. */
const decoded = (bytes: Uint8Array): string => Buffer.from(storedText(bytes)).toString("utf8");

describe("normalising", () => {
  it("lower-cases, folds white space of every kind and trims", () => {
    expect(normalise("  The\u00a0Garden \r\n\t COMMITTEE\u2003met\u3000 ")).toBe(
      "the garden committee met",
    );
    expect(normalise(" \n ")).toBe("");
  });

  it("reads no more than 500,000 units", () => {
    expect(normalise("a".repeat(MAX_TEXT_UNITS + 5))).toHaveLength(MAX_TEXT_UNITS);
    expect(normalise(`${"a".repeat(MAX_TEXT_UNITS - 1)}😀`).endsWith("a\ufffd")).toBe(true);
  });

  it("gives the same identity to a text and to what is stored of it", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const stored = decoded(compressText(text, 3));
        expect(textHash(normalise(stored))).toEqual(textHash(normalise(text)));
      }),
    );
  });

  it("hashes the UTF-8 bytes of the normal form", () => {
    expect(Buffer.from(textHash("käse")).toString("hex")).toBe(
      createHash("sha256").update(Buffer.from("käse", "utf8")).digest("hex"),
    );
  });

  it("counts words as splitting would", () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[a-z]{1,5}$/)), (words) => {
        expect(countWords(words.join(" "))).toBe(words.length);
      }),
    );
  });

  it("takes whole characters into a sample", () => {
    expect(sampleOf("ab😀", 3)).toBe("ab\ufffd");
    expect(sampleOf("ab", 3)).toBe("ab");
  });
});

describe("stored text", () => {
  it("that is damaged is reported as corrupt", () => {
    expect(() => decoded(new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 3]))).toThrow(
      expect.objectContaining({ code: "corrupt" }),
    );
  });
});
