import { describe, expect, it } from "vitest";
import { contentOfFindings, contentOfRow } from "../../../src/dedup/groups/content.ts";
import type { Findings } from "../../../src/dedup/groups/graph.ts";
import { groupRow } from "../../../src/dedup/groups/row.ts";

const scores = { confidence: 0.9, jaccard: 0.8, fuzzy: 0.95, discriminative: 1 };
const found: Findings = {
  members: [3, 5, 9],
  texts: [0, 1, 1],
  ranks: [1, 0, 0],
  pairs: [{ a: 0, b: 1, ...scores }],
  scores,
};

const row = (own: Findings) =>
  groupRow(own, {
    id: "g",
    suggestedPrimary: 5,
    reasons: ["a reason"],
    gained: false,
    updatedAtMs: 1,
  });

describe("the content of a group", () => {
  it("is that of the row made from it, also where scores were not computed", () => {
    expect(contentOfRow(row(found))).toBe(contentOfFindings(found));
    const without = { ...scores, fuzzy: Number.NaN, discriminative: Number.NaN };
    const bare = { ...found, pairs: [{ a: 0, b: 1, ...without }], scores: without };
    expect(contentOfRow(row(bare))).toBe(contentOfFindings(bare));
    expect(contentOfRow(row(bare))).not.toBe(contentOfRow(row(found)));
  });

  it("differs with members, texts, pairs, scores and algorithm, and not with what is said", () => {
    const others: Findings[] = [
      { ...found, members: [3, 5, 8] },
      { ...found, texts: [0, 1, 2] },
      { ...found, pairs: [{ a: 0, b: 2, ...scores }] },
      { ...found, pairs: [] },
      { ...found, pairs: [{ a: 0, b: 1, ...scores, fuzzy: 0.951 }] },
      { ...found, scores: { ...scores, confidence: 0.9000000001 } },
    ];
    const contents = [found, ...others].map(contentOfFindings);
    expect(new Set(contents).size).toBe(contents.length);
    expect(contentOfRow({ ...row(found), algorithmVersion: "0" })).not.toBe(contents[0]);
    expect(contentOfRow({ ...row(found), reasons: [], suggestedPrimary: 3 })).toBe(contents[0]);
  });
});
