import { describe, expect, it } from "vitest";
import { digestRequest } from "../../../src/dedup/archives/digests.ts";
import { createCorpus } from "../../../bench/corpus.ts";
import { readBlock, signatureAt } from "../../../workers/block.ts";
import { itemOf, pack } from "../../../workers/packed.ts";
import { confidence } from "../../../workers/score/confidence.ts";
import { run as digest } from "../../../workers/tasks/digest.ts";
import { run as sign } from "../../../workers/tasks/sign.ts";
import { run as verify } from "../../../workers/tasks/verify.ts";
import type { SharedTexts } from "../../../workers/tasks/verify.ts";
import { scoresAt } from "../../../workers/cover/score-columns.ts";
import type { ScoreColumns } from "../../../workers/cover/score-columns.ts";
import { run as cover } from "../../../workers/tasks/cover.ts";
import type { CoverInput } from "../../../workers/tasks/cover.ts";
import { compressText, storedText } from "../../../workers/text/compress.ts";
import { normalise } from "../../../workers/text/normalise.ts";
import { signText } from "../../../workers/text/signature.ts";
import { textHash, shingleSet } from "../text/identity.ts";
import { control } from "../control.ts";

/** A text handed to a task, as a string. */
const decoded = (bytes: Uint8Array): string => Buffer.from(storedText(bytes)).toString("utf8");

const parameters = { numPermutations: 64, numBands: 16, ngramSize: 3 };
const score = {
  similarityThreshold: 0.75,
  confidenceWeightJaccard: 60,
  confidenceWeightFuzzy: 40,
  discriminativePenaltyStrength: 70,
  fuzzySampleSize: 500,
  ngramSize: 3,
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

/** Vertex 0 with all others. */
function star(texts: readonly (string | undefined)[]): CoverInput {
  return {
    graph: {
      starts: Uint32Array.of(0, 3, 4, 5, 6),
      others: Uint32Array.of(1, 2, 3, 0, 0, 0),
      pairs: Uint32Array.of(0, 1, 2, 0, 1, 2),
      weights: Uint8Array.of(64, 1, 1),
    },
    textOf: Uint32Array.of(0, 1, 2, 3),
    texts: pack(
      texts.map((text) => (text === undefined ? new Uint8Array(0) : compressText(text, 1))),
    ),
    parameters: score,
  };
}

/** The first two scores in the other order. */
function swapped({ jaccard, discriminative, fuzzy, confidence: own }: ScoreColumns): ScoreColumns {
  const swap = (column: Float64Array): Float64Array<ArrayBuffer> =>
    Float64Array.of(column[1] ?? Number.NaN, column[0] ?? Number.NaN);
  return {
    jaccard: swap(jaccard),
    discriminative: swap(discriminative),
    fuzzy: swap(fuzzy),
    confidence: swap(own),
  };
}

function sharedTexts(texts: readonly (string | undefined)[]): SharedTexts {
  const { bytes, ends } = pack(
    texts.map((text) => (text === undefined ? new Uint8Array(0) : compressText(text, 1))),
  );
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return {
    bytes: shared.buffer,
    starts: Float64Array.from(ends, (_, i) => ends[i - 1] ?? 0),
    lengths: ends.map((end, i) => end - (ends[i - 1] ?? 0)),
    ids: Uint32Array.from(texts.keys()),
  };
}

describe("digesting", () => {
  it("gives identity, words and the text itself", () => {
    const texts = ["One  two THREE", "", "  ", "ünï 😀"];
    const caller = control();
    const out = digest({ texts, request: digestRequest() }, caller);
    expect([...out.wordCounts]).toEqual([3, 0, 0, 2]);
    for (const [i, text] of texts.entries()) {
      expect(out.hashes.slice(i * 32, (i + 1) * 32)).toEqual(
        new Uint8Array(textHash(normalise(text))),
      );
      expect(decoded(itemOf(out.zstd, i))).toBe(text);
    }
    expect(caller.units).toBe(4);
  });

  it("stops at the document after which the caller left", () => {
    const caller = control(2);
    expect(() =>
      digest({ texts: Array.from({ length: 10 }, () => long), request: digestRequest() }, caller),
    ).toThrow(expect.objectContaining({ code: "cancelled" }));
    expect(caller.units).toBe(2);
  });
});

describe("signing", () => {
  it("keeps identity, band keys and low bytes of each text, of plain ones as of compressed", () => {
    const block = signed([long, "too short"]);
    expect(block.classes).toBe(2);
    const first = signatureAt(block, 0);
    const { bands, sketch } = signText(long, parameters);
    expect([...first.bands]).toEqual([...bands]);
    expect([...first.sketch]).toEqual([...sketch]);
    const plain = sign(
      {
        texts: pack([new TextEncoder().encode(long)]),
        hashes: textHash(normalise(long)),
        parameters,
        fingerprint,
      },
      control(),
    );
    expect(signatureAt(readBlock(plain.block), 0)).toEqual(first);
  });

  it("leaves out a text that is gone", () => {
    const block = signed([long, undefined]);
    expect(block.classes).toBe(1);
    expect([...block.hashes]).toEqual([...textHash(normalise(long))]);
  });

  it("reports a text that cannot be unpacked as corrupt, and stops when the caller leaves", () => {
    const input = {
      texts: pack([new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 1, 2])]),
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
  const texts = [long, close, far, undefined];
  const input = {
    runId: "one",
    texts: sharedTexts(texts),
    a: Uint32Array.of(0, 0, 1, 0),
    b: Uint32Array.of(2, 1, 2, 3),
    parameters: score,
  };

  it("answers every pair: all scores of one that passes, what was needed of one that fails", () => {
    const { scores: out, gone } = verify(input, control());
    expect([...gone]).toEqual([0, 0, 0, 1]);
    const [a, b] = [shingleSet(normalise(long), 3), shingleSet(normalise(close), 3)];
    const common = a.filter((hash) => b.includes(hash)).length;
    const passed = scoresAt(out, 1);
    expect(passed.jaccard).toBe(common / (a.length + b.length - common));
    expect(passed.confidence).toBe(
      confidence(passed.jaccard, passed.fuzzy, passed.discriminative, score),
    );
    expect(scoresAt(out, 0)).toEqual({
      jaccard: expect.any(Number) as number,
      discriminative: Number.NaN,
      fuzzy: Number.NaN,
      confidence: Number.NaN,
    });
    expect(Object.values(scoresAt(out, 3))).toEqual([NaN, NaN, NaN, NaN]);
  });

  it("does not take the features of another run", () => {
    verify(input, control());
    const other = verify(
      {
        ...input,
        runId: "two",
        texts: sharedTexts([far, far]),
        a: Uint32Array.of(0),
        b: Uint32Array.of(1),
      },
      control(),
    );
    expect(other.scores.jaccard[0]).toBe(1);
  });

  it("stops at the pair after which the caller left", () => {
    const caller = control(1);
    expect(() => verify(input, caller)).toThrow(expect.objectContaining({ code: "cancelled" }));
    expect(caller.units).toBe(1);
  });

  it("gives in a cover the scores that it gives alone, and no group to a text that is gone", () => {
    const { scores: alone } = verify(input, control());
    // The centre 0 with all others.
    const out = cover(star(texts), control());
    expect([...out.stars]).toEqual([0, 1, 0]);
    expect([...out.pairs]).toEqual([0, 1]);
    expect(scoresAt(out.scores, 0)).toEqual(scoresAt(alone, 1));
    expect(scoresAt(out.scores, 1)).toEqual(scoresAt(alone, 0));
  });

  it("verifies in a cover only pairs that are not known", () => {
    const { scores: alone } = verify(input, control());
    const none = texts.map(() => undefined);
    const known = { pairs: Uint32Array.of(0, 1), scores: swapped(alone) };
    const out = cover({ ...star(none), known }, control());
    expect([...out.stars]).toEqual([0, 1, 0]);
    expect([...out.pairs]).toEqual([]);
    const one = { pairs: Uint32Array.of(1), scores: alone };
    expect([...cover({ ...star(texts), known: one }, control()).pairs]).toEqual([0]);
  });
});
