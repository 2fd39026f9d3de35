import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import { PAIR_LIMIT } from "../../../src/dedup/groups/graph.ts";
import { pairsToScore, rescoreRow } from "../../../src/dedup/groups/rescore-row.ts";
import { GroupRowSchema } from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import type { GroupRow } from "../../../src/gen/steward/state/v1/dedup_pb.ts";

const others = PAIR_LIMIT + 10;
const weights = { ...defaultParameters, discriminativePenaltyStrength: 0 };

/** Member 0 is the centre of more texts than a row has room for pairs. */
function largeRow(): GroupRow {
  const members = Array.from({ length: others + 1 }, (_, i) => i + 1);
  return create(GroupRowSchema, {
    id: "large",
    members,
    memberTexts: members.map((_, i) => i),
    confidence: 0.9,
    pairMembers: Array.from({ length: PAIR_LIMIT }, (_, i) => [0, i + 1]).flat(),
    pairScores: Array.from({ length: PAIR_LIMIT }, () => [0.9, 0.9, 0.9, 1]).flat(),
  });
}

describe("a group with more pairs than its row holds", () => {
  it("has the others scored, counts them in its means and keeps the best", () => {
    const row = largeRow();
    const missing = pairsToScore(row, weights);
    expect(missing).toEqual(
      Array.from({ length: 10 }, (_, i) => ({ a: 0, b: PAIR_LIMIT + 1 + i })),
    );
    const next = rescoreRow(row, weights, {
      lookup: () => ({ jaccard: 1, fuzzy: 1, discriminative: 1 }),
      order: (a, b) => a - b,
      nowMs: 5,
    });
    expect(next.confidence).toBeCloseTo((0.9 * PAIR_LIMIT + 10) / others, 12);
    expect(next.pairMembers).toHaveLength(2 * PAIR_LIMIT);
    expect(next.pairMembers.slice(0, 4)).toEqual([0, PAIR_LIMIT + 1, 0, PAIR_LIMIT + 2]);
    expect(next).toMatchObject({ outdated: true, updatedAtMs: 5 });
  });

  it("keeps a pair whose missing score cannot be had", () => {
    const row = create(GroupRowSchema, {
      members: [1, 2],
      memberTexts: [0, 1],
      confidence: 0.8,
      pairMembers: [0, 1],
      pairScores: [0.8, 0.8, Number.NaN, Number.NaN],
    });
    const facts = { lookup: () => undefined, order: () => 0, nowMs: 5 };
    expect(rescoreRow(row, defaultParameters, facts).pairScores).toEqual(row.pairScores);
  });
});
