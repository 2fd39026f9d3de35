import { describe, expect, it } from "vitest";
import { analyse } from "../../../src/dedup/analysis/engine.ts";
import type {
  Classifier,
  ReportableDocument,
  ReportableGroup,
} from "../../../src/dedup/analysis/outcome.ts";
import {
  createClassifier,
  documentPairs,
  groupDocuments,
} from "../../../src/dedup/analysis/outcome.ts";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import { createMemorySketchStore } from "../../../src/dedup/analysis/sketch-store.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { fuzzyRatio, wordSorted } from "../../../workers/score/fuzzy.ts";
import { compressText } from "../../../workers/text/compress.ts";
import { normalise } from "../../../workers/text/normalise.ts";
import { countWords, textHash } from "../../workers/text/identity.ts";
import { edited, prose } from "../groups/bench.ts";
import { createInlinePool } from "../inline-pool.ts";

const parameters = { minWords: 20, ngramSize: 3, fuzzySampleSize: 10_000 };

function classify(texts: readonly string[], least: Partial<typeof parameters> = {}): Classifier {
  const classifier = createClassifier({ ...parameters, ...least });
  for (const [number, text] of texts.entries()) {
    const normalised = normalise(text);
    classifier.add(number, {
      hash: normalised === "" ? new Uint8Array() : textHash(normalised),
      wordCount: countWords(normalised),
    });
  }
  return classifier;
}

describe("documents sorted into texts", () => {
  it("meet where their texts are equal and are left out with a reason", () => {
    const { classes, skipped, documents } = classify([
      prose(1),
      "",
      "few",
      prose(2),
      prose(1).toUpperCase(),
    ]);
    expect(classes.map((one) => one.documents)).toEqual([[0, 4], [3]]);
    expect([skipped, documents]).toEqual([{ noContent: 1, tooShort: 1, shinglesFailed: 0 }, 3]);
    expect(classify(["two words"], { minWords: 1 }).skipped).toEqual({
      noContent: 0,
      tooShort: 0,
      shinglesFailed: 1,
    });
  });
});

describe("groups of documents that no store knows", () => {
  const texts = [prose(1), edited(prose(1), 30, "other"), prose(1), prose(2), prose(2)];

  async function report(order: readonly number[]): Promise<ReportableGroup[]> {
    const own = order.map((index) => texts[index] ?? "");
    const { classes } = classify(own);
    const pool = createInlinePool();
    const signal = new AbortController().signal;
    const text = (number: number): Uint8Array => compressText(own[number] ?? "", 1);
    const outcome = await analyse({
      classes,
      text: (indexes) => indexes.map((index) => text(classes[index]?.documents[0] ?? 0)),
      sketches: createMemorySketchStore(),
      parameters: defaultParameters,
      pool,
      signal,
      progress: () => undefined,
    });
    expect(documentPairs(outcome)).toBe(4);
    const document = (number: number): ReportableDocument => ({
      ref: `file-${order[number]}`,
      title: `Title ${order[number]}`,
      archive: "",
      archiveRef: `file-${order[number]}`,
      wordCount: 60,
    });
    return await groupDocuments({
      document,
      text,
      outcome,
      parameters,
      pool,
      clock: systemClock,
      signal,
    });
  }

  /** Numbers follow the order of the documents. */
  const withoutNumbers = (groups: readonly ReportableGroup[]) =>
    groups.map(({ found: _found, members, ...group }) => ({
      ...group,
      members: members.map(({ number: _number, ...member }) => member),
    }));

  it("are the same whatever the order of the documents", async () => {
    // One word of 60 replaced: 55 of 61 phrases are shared.
    const fuzzy = fuzzyRatio(wordSorted(texts[0] ?? ""), wordSorted(texts[1] ?? ""));
    const confidence = 0.6 * (55 / 61) + 0.4 * fuzzy;
    const groups = await report([0, 1, 2, 3, 4]);
    expect(withoutNumbers(await report([4, 2, 1, 3, 0]))).toEqual(withoutNumbers(groups));
    expect(
      groups.map(({ confidence, members, pairs }) => [
        confidence,
        members.map(({ ref, primary }) => [ref, primary]),
        pairs,
      ]),
    ).toEqual([
      [
        1,
        [
          ["file-3", true],
          ["file-4", false],
        ],
        1,
      ],
      [
        expect.closeTo((1 + 2 * confidence) / 3, 12),
        [
          ["file-0", true],
          ["file-1", false],
          ["file-2", false],
        ],
        3,
      ],
    ]);
    expect(groups[0]?.reasons).toEqual([
      "exact copy: the texts are the same, word for word",
      "suggested to stay: first by name among 2 equals: file-3",
    ]);
    expect(groups[1]?.reasons.join("\n")).toMatch(/90 % of three-word phrases shared/);
  });
});
