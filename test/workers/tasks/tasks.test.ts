import { describe, expect, it } from "vitest";
import { createCorpus } from "../../../bench/corpus.ts";
import { COUNT_WORDS, TABLE_WORDS, readBlock, signatureAt } from "../../../workers/block.ts";
import { itemOf, pack } from "../../../workers/packed.ts";
import { confidence } from "../../../workers/score/confidence.ts";
import { run as digest } from "../../../workers/tasks/digest.ts";
import { run as sign } from "../../../workers/tasks/sign.ts";
import { run as verify } from "../../../workers/tasks/verify.ts";
import type { Payloads } from "../../../workers/tasks/verify.ts";
import { compressText, decompressText } from "../../../workers/text/compress.ts";
import { normalise } from "../../../workers/text/normalise.ts";
import { textHash, shingleSet } from "../text/identity.ts";
import { control } from "../control.ts";

const parameters = { numPermutations: 64, numBands: 16, ngramSize: 3, fuzzySampleSize: 500 };
const score = {
  similarityThreshold: 0.75,
  confidenceWeightJaccard: 60,
  confidenceWeightFuzzy: 40,
  discriminativePenaltyStrength: 70,
  fuzzySampleSize: 500,
};
const fingerprint = new Uint8Array(32).fill(9);
const [long = ""] = createCorpus({ documents: 1, words: 60, seed: 1 });

function signed(
  texts: readonly (string | undefined)[],
  hashes = texts.map((text) => textHash(normalise(text ?? "gone"))),
) {
  const input = {
    texts: pack(
      texts.map((text) => (text === undefined ? new Uint8Array(0) : compressText(text, 3))),
    ),
    hashes: pack(hashes).bytes,
    parameters,
    fingerprint,
  };
  return readBlock(sign(input, control()).block);
}

function payloadsOf(texts: readonly string[]): Payloads {
  const block = signed(texts);
  const words = new Uint32Array(new SharedArrayBuffer(block.words.byteLength));
  words.set(block.words);
  const table = new Uint32Array(new SharedArrayBuffer(texts.length * TABLE_WORDS * 4));
  table.set(block.table);
  return { words: words.buffer, table: table.buffer };
}

describe("digesting", () => {
  it("gives identity, words and the text itself", () => {
    const texts = ["One  two THREE", "", "  ", "ünï 😀"];
    const caller = control();
    const out = digest({ texts }, caller);
    expect([...out.wordCounts]).toEqual([3, 0, 0, 2]);
    for (const [i, text] of texts.entries()) {
      expect(out.hashes.slice(i * 32, (i + 1) * 32)).toEqual(
        new Uint8Array(textHash(normalise(text))),
      );
      expect(decompressText(itemOf(out.zstd, i))).toBe(text);
    }
    expect(caller.units).toBe(4);
  });

  it("stops at the document after which the caller left", () => {
    const caller = control(2);
    expect(() => digest({ texts: Array.from({ length: 10 }, () => long) }, caller)).toThrow(
      expect.objectContaining({ code: "cancelled" }),
    );
    expect(caller.units).toBe(2);
  });
});

describe("signing", () => {
  it("keeps what the score needs of each text", () => {
    const block = signed([long, "too short"]);
    expect(block.classes).toBe(2);
    const first = signatureAt(block, 0);
    expect(first.set).toEqual(shingleSet(normalise(long), 3));
    expect(decompressText(first.sample)).toBe(normalise(long).slice(0, 500));
    expect(signatureAt(block, 1).set).toHaveLength(0);
    expect(first.tokens.length).toBeGreaterThanOrEqual(COUNT_WORDS);
  });

  it("leaves out a text that is gone and one that is not what its hash says", () => {
    const block = signed(
      [long, undefined, "another text"],
      [textHash(normalise(long)), new Uint8Array(32), textHash("this text")],
    );
    expect(block.classes).toBe(1);
    expect([...block.hashes]).toEqual([...textHash(normalise(long))]);
  });

  it("reports a text that cannot be unpacked as corrupt, and stops when the caller leaves", () => {
    const input = {
      texts: pack([new Uint8Array([1, 2])]),
      hashes: new Uint8Array(32),
      parameters,
      fingerprint,
    };
    expect(() => sign(input, control())).toThrow(expect.objectContaining({ code: "corrupt" }));
    expect(() => sign(input, control(0))).toThrow(expect.objectContaining({ code: "cancelled" }));
  });
});

describe("verifying", () => {
  const close = long.replace(/\w+$/, "changed");
  const [far = ""] = createCorpus({ documents: 1, words: 60, seed: 2 });

  it("answers the pairs at or above the threshold with all their scores", () => {
    const payloads = payloadsOf([long, close, far]);
    const out = verify(
      {
        inA: payloads,
        inB: payloads,
        a: Uint32Array.of(0, 0, 1),
        b: Uint32Array.of(2, 1, 2),
        parameters: score,
      },
      control(),
    );
    expect([...out.index]).toEqual([1]);
    const [a, b] = [shingleSet(normalise(long), 3), shingleSet(normalise(close), 3)];
    const common = a.filter((hash) => b.includes(hash)).length;
    expect(out.jaccard[0]).toBe(common / (a.length + b.length - common));
    expect(out.confidence[0]).toBe(
      confidence(out.jaccard[0] ?? 0, out.fuzzy[0] ?? 0, out.discriminative[0] ?? 0, score),
    );
  });

  it("scores across two sets of payloads as within one", () => {
    const one = payloadsOf([long, close]);
    const within = verify(
      { inA: one, inB: one, a: Uint32Array.of(0), b: Uint32Array.of(1), parameters: score },
      control(),
    );
    const across = verify(
      {
        inA: payloadsOf([long]),
        inB: payloadsOf([far, close]),
        a: Uint32Array.of(0),
        b: Uint32Array.of(1),
        parameters: score,
      },
      control(),
    );
    expect(across).toEqual(within);
    expect(across.index).toHaveLength(1);
  });

  it("stops at the pair after which the caller left", () => {
    const payloads = payloadsOf([long, close]);
    const caller = control(1);
    expect(() =>
      verify(
        {
          inA: payloads,
          inB: payloads,
          a: Uint32Array.of(0, 0),
          b: Uint32Array.of(1, 1),
          parameters: score,
        },
        caller,
      ),
    ).toThrow(expect.objectContaining({ code: "cancelled" }));
    expect(caller.units).toBe(1);
  });
});
