import { describe, expect, it } from "vitest";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import { showMemberships } from "../../../src/dedup/groups/present.ts";
import { setPrimary, setStatus } from "../../../src/dedup/groups/review.ts";
import { decisions, groups } from "../../../src/dedup/tables.ts";
import type { Bench } from "./bench.ts";
import { edited, openBench, prose } from "./bench.ts";

const text = prose(1);

async function three(): Promise<{ bench: Bench; id: string }> {
  const bench = await openBench();
  for (const docNo of [1, 2, 3]) await bench.put(docNo, edited(text, docNo, "other"));
  await bench.analyse();
  return { bench, id: bench.groups()[0]?.row.id ?? "" };
}

describe("a document that is gone", () => {
  it("leaves its groups, and the list says so", async () => {
    const { bench, id } = await three();
    await bench.remove(2);
    expect(bench.group(id)?.row.members).toEqual([1, 3]);
    expect(
      bench.index.select(
        { statuses: new Set([GroupStatus.PENDING]) },
        { by: "confidence", descending: true },
        { offset: 0, limit: 10 },
      ),
    ).toEqual({ ids: [id], total: 1, totalMemberCount: 2 });
    expect(
      bench.env.read((snapshot) => [1, 2].map((docNo) => showMemberships(snapshot, docNo).length)),
    ).toEqual([1, 0]);
  });

  it("hands the primary on: chosen, suggested, first", async () => {
    const { bench, id } = await three();
    await bench.env.write((tx) =>
      setPrimary(tx, bench.index, { id, docNo: 3, documentId: "document-3", nowMs: 1 }),
    );
    const primary = (docNo: number): boolean | undefined =>
      bench.env.read((snapshot) => showMemberships(snapshot, docNo)[0]?.isPrimary);
    expect([primary(1), primary(3)]).toEqual([false, true]);
    await bench.remove(3);
    expect(primary(1)).toBe(true);
  });

  it("takes a pending group with it that has one member left, with its record", async () => {
    const { bench, id } = await three();
    await bench.remove(1);
    await bench.remove(2);
    expect([bench.group(id), bench.index.size]).toEqual([undefined, 0]);
    expect(
      bench.env.read((snapshot) => [snapshot.count(groups), snapshot.count(decisions)]),
    ).toEqual([0, 0]);
  });

  it("leaves a decided group its status, even without members", async () => {
    const { bench, id } = await three();
    await bench.env.write((tx) =>
      setStatus(tx, bench.index, { id, status: GroupStatus.FALSE_POSITIVE, nowMs: 1 }),
    );
    for (const docNo of [1, 2, 3]) await bench.remove(docNo);
    await bench.analyse();
    expect(bench.group(id)).toMatchObject({
      row: { members: [] },
      decision: { status: GroupStatus.FALSE_POSITIVE },
    });
  });
});

describe("forgetting everything", () => {
  it("leaves no group, no record and an empty list", async () => {
    const { bench } = await three();
    await bench.membership.forgetAll(
      (change) => bench.env.write(change),
      new AbortController().signal,
    );
    expect(
      bench.env.read((snapshot) => [snapshot.count(groups), snapshot.count(decisions)]),
    ).toEqual([0, 0]);
    expect(bench.index.size).toBe(0);
    await bench.analyse();
    expect(bench.groups().map(({ row }) => row.members)).toEqual([[1, 2, 3]]);
  });
});
