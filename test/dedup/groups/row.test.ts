import { describe, expect, it } from "vitest";
import { newDecision } from "../../../src/dedup/groups/decision.ts";
import type { FoundGroup } from "../../../src/dedup/groups/graph.ts";
import { groupSteps } from "../../../src/dedup/groups/graph.ts";
import { groupRow, memberPairs, primaryOf, withoutMembers } from "../../../src/dedup/groups/row.ts";
import { runAtOnce } from "./run-at-once.ts";
import type { GroupRow } from "../../../src/gen/steward/state/v1/dedup_pb.ts";

/** Texts {10, 30}, {20}, {40}: the first like both others. */
function row(): GroupRow {
  const scores = { confidence: 0.8, jaccard: 0.7, fuzzy: 0.9, discriminative: 1 };
  const documents = [[30, 10], [20], [40]];
  const [found] = runAtOnce(
    groupSteps({
      documents,
      vertices: {
        textOf: Uint32Array.of(0, 1, 2),
        vertex: (text) => ({ text, documents: documents[text] ?? [], equal: true }),
      },
      stars: [
        {
          centre: 0,
          members: [
            { vertex: 1, scores },
            { vertex: 2, scores: { ...scores, confidence: 0.9 } },
          ],
        },
      ],
    }),
  );
  return groupRow(found as FoundGroup, {
    id: "g",
    suggestedPrimary: 20,
    reasons: ["why"],
    gained: false,
    updatedAtMs: 1,
  });
}

function pairs(group: GroupRow, limit = 100): string[] {
  return memberPairs(group, limit).map(({ a, b, confidence }) => `${a}-${b} ${confidence}`);
}

describe("a stored group", () => {
  it("shows a pair for each two texts, then equal texts, then the rest, as many as asked", () => {
    expect(pairs(row())).toEqual(["10-40 0.9", "10-20 0.8", "10-30 1", "30-40 0.9", "30-20 0.8"]);
    expect(pairs(row(), 3)).toEqual(["10-40 0.9", "10-20 0.8", "10-30 1"]);
  });

  it("shows the first pairs of 150,000 equal texts", () => {
    const members = Array.from({ length: 150_000 }, (_, at) => at + 1);
    const group = { ...row(), members, memberTexts: members.map(() => 0), pairMembers: [] };
    expect(pairs(group, 2)).toEqual(["1-2 1", "1-3 1"]);
  });

  it("keeps the pairs of a text when the member that stood for it goes", () => {
    const left = withoutMembers(row(), new Set([10]), 7);
    expect(left).toMatchObject({ members: [20, 30, 40], updatedAtMs: 7, suggestedPrimary: 20 });
    expect(pairs(left)).toEqual(["30-40 0.9", "30-20 0.8"]);
  });

  it("loses the pairs of a text with its last member, and promotes the first that remains", () => {
    const left = withoutMembers(row(), new Set([20]), 7);
    expect(left.suggestedPrimary).toBe(10);
    expect(pairs(left)).toEqual(["10-40 0.9", "10-30 1", "30-40 0.9"]);
    expect(pairs(withoutMembers(left, new Set([10, 30]), 7))).toEqual([]);
  });

  it("is the same without several members at once as without one after the other", () => {
    for (const first of row().members)
      for (const second of row().members) {
        const one = withoutMembers(row(), new Set([first]), 7);
        expect(withoutMembers(row(), new Set([first, second]), 7)).toEqual(
          withoutMembers(one, new Set([second]), 7),
        );
      }
  });

  it("stays as it is without somebody who is no member", () => {
    const group = row();
    expect(withoutMembers(group, new Set([99]), 7)).toBe(group);
  });

  it("is led by the person's choice, the suggestion or the first member, whoever is there", () => {
    const chosen = { ...newDecision(1), primary: 40 };
    expect(primaryOf(row(), chosen)).toBe(40);
    expect(primaryOf(withoutMembers(row(), new Set([40]), 1), chosen)).toBe(20);
    expect(primaryOf({ ...row(), suggestedPrimary: 99 }, newDecision(1))).toBe(10);
    expect(primaryOf({ ...row(), members: [] }, newDecision(1))).toBeUndefined();
  });
});
