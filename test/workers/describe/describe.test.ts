import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { run as explainPairs } from "../../../workers/describe/explain-pairs.ts";
import { run as qualities } from "../../../workers/describe/qualities.ts";
import { textQuality } from "../../../workers/describe/text-quality.ts";
import { compressText } from "../../../workers/text/compress.ts";

const control = { cancelled: () => false, step: () => undefined, transfer: () => undefined };
const gone = { ...control, cancelled: () => true };

describe("the quality of a text", () => {
  it("is whole for prose in any language and falls with reading errors", () => {
    expect(textQuality('Grüße aus Köln, 12.3.2024: 100 % ("gut")')).toBe(1);
    expect(textQuality("Привет, мир!")).toBe(1);
    expect(textQuality("ab|~^\uFFFD#=")).toBeLessThan(0.5);
    expect(textQuality("")).toBe(0);
  });

  it("is the share that one pattern over the text finds", () => {
    const ordinary = /[\p{L}\p{M}\p{N}\s.,;:!?'"()/%&+\-–—’“”„€$£§]+/gu;
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (text) => {
        const sample = text.toWellFormed();
        const found = [...sample.matchAll(ordinary)].reduce((sum, [run]) => sum + run.length, 0);
        expect(textQuality(text)).toBe(found / sample.length);
      }),
      { numRuns: 1_000 },
    );
  });

  it("is told for each stored text, and not for a caller who has gone", () => {
    const texts = ["clean text", "|||#"].map((text) => compressText(text, 1));
    expect(qualities(texts, control)).toEqual([1, 0]);
    expect(() => qualities(texts, gone)).toThrow(/gone/);
  });
});

describe("the explanation of a pair", () => {
  it("names what is the same and what differs", () => {
    const [a, b] = [
      "Invoice of 2024-03-14 over 20.00 EUR",
      "Invoice of 2024-06-14 over 20.00 EUR",
    ].map((text) => compressText(text, 1)) as [Uint8Array, Uint8Array];
    const [lines] = explainPairs(
      { pairs: [{ a, b, jaccard: 0.5, fuzzy: 0.9 }], ngramSize: 3, sampleUnits: 10_000 },
      control,
    );
    expect(lines?.join("\n")).toMatch(/50 % of three-word phrases[\s\S]*different dates/);
    expect(() =>
      explainPairs(
        { pairs: [{ a, b, jaccard: 0.5, fuzzy: 0.9 }], ngramSize: 3, sampleUnits: 10_000 },
        gone,
      ),
    ).toThrow(/gone/);
  });
});
