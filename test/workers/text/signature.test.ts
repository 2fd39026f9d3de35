import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { normalise, sampleOf } from "../../../workers/text/normalise.ts";
import { sampleOfText } from "../../../workers/text/sample.ts";
import { countWords, textHash, shingleSet } from "./identity.ts";
import { identify, signText } from "../../../workers/text/signature.ts";
import { bandKeys, shinglesOf, sketchOf } from "../wasm/reference.ts";

/** Letters of every way of folding, white space of every kind, halves of pairs. */
const piece = fc.oneof(
  fc.constantFrom(" ", "\t", "\n", "\v", "\f", "\r", "\u0085", "\u00a0", "\u1680", "\u2003"),
  fc.constantFrom("\u2028", "\u2029", "\u202f", "\u205f", "\u3000", "\ufeff", "\u200b"),
  fc.constantFrom("A", "z", "Ä", "ß", "É", "İ", "Σ", "ΟΔΟΣ", "Ⱥ", "Ж", "Ő", "Ẽ", "K", "Ａ"),
  fc.constantFrom("—", "“", "™", "词", "😀", "𐐀", "\ud83d", "\ude00", "Ꭰ", "ꙁ"),
  fc.string({ unit: "binary", maxLength: 3 }),
  fc.stringMatching(/^[A-Za-z0-9.,]{1,20}$/),
);
const text = fc
  .array(fc.tuple(piece, fc.constantFrom("", "", " ", "  ")), { maxLength: 120 })
  .map((pieces) => pieces.flat().join(""));
const shapes = fc.record({
  numPermutations: fc.constantFrom(16, 63, 128, 256, 1_024),
  numBands: fc.integer({ min: 1, max: 16 }),
  ngramSize: fc.integer({ min: 1, max: 10 }),
});

describe("identity", () => {
  it("is that of the normal form in plain TypeScript, as a string and in UTF-8", () => {
    fc.assert(
      fc.property(text, (raw) => {
        const normalised = normalise(raw);
        const expected = { hash: textHash(normalised), words: countWords(normalised) };
        expect(identify(raw)).toEqual(expected);
        expect(identify(Buffer.from(raw.toWellFormed(), "utf8"))).toEqual(expected);
      }),
      { numRuns: 2_000 },
    );
  });

  it("folds every character as JavaScript does", () => {
    for (let first = 0; first < 0x11_0000; first += 64) {
      const points = Array.from({ length: 64 }, (_, i) => String.fromCodePoint(first + i));
      const page = points.map((point) => `x${point}y `).join("");
      expect(identify(page).hash, first.toString(16)).toEqual(textHash(normalise(page)));
    }
  });

  it("is the same wherever a character lies in its block of sixteen bytes", () => {
    for (let lead = 0; lead < 70; lead += 1)
      for (const character of ["Ä", "\u00a0", "\u2003 ", " \u3000", "É  ", "—", "𐐀"]) {
        const raw = `${"X".repeat(lead)}${character}Y Z`;
        expect(identify(raw).hash).toEqual(textHash(normalise(raw)));
      }
  });

  it("reads 500,000 units, whatever they are", () => {
    for (const unit of ["a ", "词", "Ä\n", "😀"]) {
      const raw = unit.repeat(260_000);
      expect(identify(raw).hash).toEqual(textHash(normalise(raw)));
      expect(identify(Buffer.from(raw)).hash).toEqual(textHash(normalise(raw)));
    }
  });

  it("of an empty text has no words", () => {
    expect(identify("")).toEqual({ hash: textHash(""), words: 0 });
    expect(identify(" \n\u2003")).toEqual({ hash: textHash(""), words: 0 });
  });
});

describe("a sample", () => {
  it("is the head of the normal form, whatever its characters take", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 200 }), (raw, units) => {
        expect(sampleOfText(raw, units)).toBe(sampleOf(normalise(raw), units));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe("a signature", () => {
  it("equals the plain computation in every key and byte", () => {
    fc.assert(
      fc.property(text, shapes, (raw, shape) => {
        const shingles = shinglesOf(raw, shape.ngramSize);
        const signature = signText(raw, shape);
        expect(signature.shingles).toBe(shingles.length);
        if (shingles.length === 0) return;
        const bins = sketchOf(shingles, shape.numPermutations);
        expect(signature.bands).toEqual(bandKeys(bins, shape.numBands));
        expect(signature.sketch).toEqual(new Uint8Array(bins));
      }),
      { numRuns: 300 },
    );
  });

  it("of a text that repeats itself is that of the text once", () => {
    const shape = { numPermutations: 256, numBands: 64, ngramSize: 3 };
    const once = signText("one word ".repeat(3), shape);
    const often = signText("one word ".repeat(50_000), shape);
    expect(often.bands).toEqual(once.bands);
    expect(often.sketch).toEqual(once.sketch);
  });

  it("has all keys and bytes 0 where there are no shingles", () => {
    const { bands, sketch, shingles } = signText("two words", {
      numPermutations: 64,
      numBands: 16,
      ngramSize: 3,
    });
    expect(shingles).toBe(0);
    expect(bands.every((key) => key === 0)).toBe(true);
    expect(sketch).toEqual(new Uint8Array(64));
  });
});

describe("the set of shingles", () => {
  it("is the plain one, ascending and distinct", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("a", "bb", "ß", "词"), { maxLength: 400 }),
        fc.integer({ min: 1, max: 10 }),
        (words, size) => {
          const raw = words.join(" ");
          const expected = [...new Set(shinglesOf(raw, size))].sort((a, b) => a - b);
          expect([...shingleSet(raw, size)]).toEqual(expected);
        },
      ),
    );
  });

  it("has no chance collisions in a text of many words", () => {
    const raw = Array.from({ length: 3_000 }, (_, i) => `w${i}`).join(" ");
    expect(shingleSet(raw, 3)).toHaveLength(2_998);
  });
});
