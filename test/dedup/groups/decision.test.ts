import { describe, expect, it } from "vitest";
import {
  decide,
  hasNewMembers,
  HISTORY_LIMIT,
  historyOf,
  newDecision,
  rejectedPairs,
  rejectedSets,
  statusOf,
  withRestoredPair,
} from "../../../src/dedup/groups/decision.ts";
import type { Decided, Verdict } from "../../../src/dedup/groups/decision.ts";
import { createRejections } from "../../../src/dedup/review/rejections.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";

const still = { gained: false };
const grown = { gained: true };
const members: Decided[] = [
  { docNo: 1, contentHash: Uint8Array.of(1) },
  { docNo: 2, contentHash: Uint8Array.of(2) },
];

function verdict(status: GroupStatus, atMs: number): Verdict {
  return { status, members, primaryTitle: "The first", atMs };
}

describe("a verdict", () => {
  it("is what readers see until the group has new members, and then part of the history", () => {
    const decision = decide(still, newDecision(5), verdict(GroupStatus.IGNORED, 10));
    expect([statusOf(still, decision), historyOf(still, decision)]).toEqual([
      GroupStatus.IGNORED,
      [],
    ]);
    expect(statusOf(grown, decision)).toBe(GroupStatus.PENDING);
    expect(historyOf(grown, decision)).toMatchObject([
      { status: GroupStatus.IGNORED, decidedAtMs: 10 },
    ]);
    expect([
      hasNewMembers(decision, [2, 1]),
      hasNewMembers(decision, [2]),
      hasNewMembers(decision, [1, 2, 3]),
      hasNewMembers(newDecision(5), [9]),
    ]).toEqual([false, false, true, false]);
  });

  it("rests after 'not a duplicate', and only then, while a member has another text", () => {
    const texts = new Map([
      [1, Uint8Array.of(1)],
      [2, Uint8Array.of(9)],
    ]);
    const isNew = (status: GroupStatus, own: number[]): boolean =>
      hasNewMembers(decide(still, newDecision(5), verdict(status, 10)), own, (docNo) =>
        texts.get(docNo),
      );
    expect([
      isNew(GroupStatus.FALSE_POSITIVE, [1, 2]),
      isNew(GroupStatus.FALSE_POSITIVE, [1]),
      isNew(GroupStatus.IGNORED, [1, 2]),
    ]).toEqual([true, false, false]);
  });

  it("follows earlier ones, the resting one included", () => {
    const ignored = decide(still, newDecision(5), verdict(GroupStatus.IGNORED, 10));
    const back = decide(still, ignored, verdict(GroupStatus.PENDING, 20));
    expect(back.history.map(({ status, decidedAtMs }) => [status, decidedAtMs])).toEqual([
      [GroupStatus.IGNORED, 10],
    ]);
    const again = decide(still, back, verdict(GroupStatus.FALSE_POSITIVE, 30));
    expect(again.history.map(({ status, decidedAtMs }) => [status, decidedAtMs])).toEqual([
      [GroupStatus.IGNORED, 10],
      [GroupStatus.PENDING, 20],
    ]);
    expect(decide(grown, ignored, verdict(GroupStatus.IGNORED, 40)).history).toMatchObject([
      { status: GroupStatus.IGNORED, decidedAtMs: 10 },
    ]);
    expect(decide(still, newDecision(5), verdict(GroupStatus.IGNORED, 10)).history).toEqual([]);
  });

  it("keeps the number of members and the primary's title only while deleted", () => {
    const deleted = decide(still, newDecision(5), verdict(GroupStatus.DELETED, 10));
    expect(deleted).toMatchObject({
      archivedMemberCount: 2,
      archivedPrimaryTitle: "The first",
      deletedAtMs: 10,
    });
    const back = decide(still, deleted, verdict(GroupStatus.PENDING, 20));
    expect([back.archivedMemberCount, back.archivedPrimaryTitle, back.deletedAtMs]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("'not a duplicate' rejects the members whose text is what it was", () => {
    const decision = decide(still, newDecision(5), verdict(GroupStatus.FALSE_POSITIVE, 10));
    const hashes = new Map([
      [1, Uint8Array.of(1)],
      [2, Uint8Array.of(2)],
    ]);
    expect(rejectedSets(decision, (docNo) => hashes.get(docNo))).toEqual([[1, 2]]);
    expect(
      rejectedSets(decision, (docNo) => (docNo === 1 ? hashes.get(1) : Uint8Array.of(9))),
    ).toEqual([]);
    expect(rejectedSets(decision, () => undefined)).toEqual([]);
    expect(
      rejectedSets(decide(still, decision, verdict(GroupStatus.PENDING, 20)), (docNo) =>
        hashes.get(docNo),
      ),
    ).toEqual([]);
  });

  it("a restored pair is the only one that is not rejected any more", () => {
    const members = [1, 2, 3, 4, 5].map((docNo) => ({ docNo, contentHash: Uint8Array.of(docNo) }));
    const rejected = decide(still, newDecision(5), {
      ...verdict(GroupStatus.FALSE_POSITIVE, 10),
      members,
    });
    const hashOf = (docNo: number): Uint8Array => Uint8Array.of(docNo);
    let decision = rejected;
    const restored = new Set<string>();
    for (const [a, b] of [
      [2, 4],
      [4, 1],
      [5, 2],
    ] as const) {
      decision = withRestoredPair(decision, a, b);
      restored.add([Math.min(a, b), Math.max(a, b)].join());
      const isRejected = createRejections(rejectedSets(decision, hashOf));
      const pairs = [...rejectedPairs(decision, hashOf)].map((pair) => pair.toSorted().join());
      for (const one of members)
        for (const other of members) {
          if (one.docNo >= other.docNo) continue;
          const name = [one.docNo, other.docNo].join();
          expect([name, isRejected(one.docNo, other.docNo)]).toEqual([name, !restored.has(name)]);
          expect([name, pairs.includes(name)]).toEqual([name, !restored.has(name)]);
        }
    }
    const again = decide(still, decision, { ...verdict(GroupStatus.FALSE_POSITIVE, 30), members });
    expect(rejectedSets(again, hashOf)).toEqual([[1, 2, 3, 4, 5]]);
  });

  it("keeps a bounded history, the latest", () => {
    let decision = newDecision(0);
    for (let at = 1; at <= HISTORY_LIMIT + 10; at++)
      decision = decide(
        still,
        decision,
        verdict(at % 2 ? GroupStatus.IGNORED : GroupStatus.PENDING, at),
      );
    expect(decision.history).toHaveLength(HISTORY_LIMIT);
    expect(decision.history.at(-1)?.decidedAtMs).toBe(HISTORY_LIMIT + 9);
  });
});
