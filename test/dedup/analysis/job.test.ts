import { describe, expect, it } from "vitest";
import { metaNumber } from "../../../src/dedup/meta.ts";
import { decisions, groups } from "../../../src/dedup/tables.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import { compressText } from "../../../workers/text/compress.ts";
import { temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import type { Bench } from "../groups/bench.ts";
import { edited, openBench, prose } from "../groups/bench.ts";
import { decide, members, one, small, two } from "./small-archive.ts";

function withoutTime({ row, decision }: ReturnType<Bench["groups"]>[number]): unknown {
  return { row: { ...row, updatedAtMs: 0 }, decision };
}

describe("an analysis", () => {
  it("finds the groups, counts what it did and marks the documents", async () => {
    const bench = await small();
    const result = await bench.analyse();
    expect(result).toEqual({
      totalDocuments: 6,
      documentsAnalyzed: 4,
      documentsSkipped: 2,
      skipReasons: { noContent: 1, tooShort: 1, shinglesFailed: 0 },
      isFullRebuild: true,
      signaturesGenerated: 3,
      signaturesReused: 0,
      candidatePairsFound: expect.any(Number) as number,
      textsLimited: 0,
      candidatePairsScored: 1,
      documentPairs: 3,
      groupsCreated: 1,
      groupsUpdated: 0,
      groupsRemoved: 0,
      warnings: [],
      durationMs: expect.any(Number) as number,
    });
    expect(members(bench)).toEqual([[1, 2, 3]]);
    expect(bench.groups()[0]?.row.reasons.join("\n")).toMatch(
      /phrases shared[\s\S]*3 documents have 2 different texts[\s\S]*suggested to stay/,
    );
    expect([1, 2, 3, 4, 5, 6].map((docNo) => bench.documents.row(docNo)?.pending)).toEqual([
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(
      bench.env.read((snapshot) => [
        metaNumber(snapshot, "generation"),
        metaNumber(snapshot, "totalGroups"),
        metaNumber(snapshot, "lastAnalysisAtMs"),
      ]),
    ).toEqual([1, 1, bench.clock.now()]);
  });

  it("notes its time even when there is nothing to analyse", async () => {
    const bench = await openBench();
    expect(await bench.analyse()).toMatchObject({ totalDocuments: 0, groupsCreated: 0 });
    expect(bench.env.read((snapshot) => metaNumber(snapshot, "lastAnalysisAtMs"))).toBe(
      bench.clock.now(),
    );
  });

  it("gives the same groups the same ids and leaves what did not change as it was", async () => {
    const bench = await small();
    await bench.analyse();
    const before = bench.groups();
    const result = await bench.analyse();
    expect(result).toMatchObject({
      isFullRebuild: false,
      signaturesGenerated: 0,
      signaturesReused: 3,
      groupsCreated: 0,
      groupsUpdated: 0,
    });
    expect(bench.groups()).toEqual(before);
    expect(await bench.analyse({ force: true })).toMatchObject({
      isFullRebuild: true,
      signaturesGenerated: 3,
      signaturesReused: 0,
    });
    expect(bench.groups()).toEqual(before);
    expect(
      bench.env.read((snapshot) => [snapshot.count(groups), snapshot.count(decisions)]),
    ).toEqual([1, 1]);
  });

  it("compares nothing when nothing has changed since the last one", async () => {
    const parameters: { similarityThreshold?: number } = {};
    const bench = await small({ parameters });
    const loads = bench.comparisons;
    await bench.analyse();
    const before = bench.groups();
    const id = before[0]?.row.id ?? "";

    loads.count = 0;
    bench.clock.advance(60_000);
    expect(await bench.analyse()).toMatchObject({
      totalDocuments: 6,
      isFullRebuild: false,
      signaturesGenerated: 0,
      signaturesReused: 3,
      documentPairs: 3,
      groupsCreated: 0,
      groupsUpdated: 0,
      groupsRemoved: 0,
    });
    expect([loads.count, bench.groups()]).toEqual([0, before]);
    expect(bench.env.read((snapshot) => metaNumber(snapshot, "lastAnalysisAtMs"))).toBe(
      bench.clock.now(),
    );

    const changes: Readonly<Record<string, () => Promise<void> | void>> = {
      "a new text": () => bench.put(7, prose(7)),
      "a removed document": () => bench.remove(7),
      "a decision": () => decide(bench, id, GroupStatus.FALSE_POSITIVE),
      "its opposite": () => decide(bench, id, GroupStatus.PENDING),
      "another threshold": () => void (parameters.similarityThreshold = 0.8),
    };
    for (const [name, change] of Object.entries(changes)) {
      await change();
      loads.count = 0;
      await bench.analyse();
      expect([name, loads.count]).toEqual([name, 1]);
      await bench.analyse();
      expect([name, loads.count]).toEqual([name, 1]);
    }
  });

  it("compares what changed while the last one ran", async () => {
    const bench = await small();
    const loads = bench.comparisons;
    await bench.analyse();
    const [group] = bench.groups();
    for (const change of [
      () => bench.put(9, two),
      () => bench.remove(9),
      () => decide(bench, group?.row.id ?? "", GroupStatus.IGNORED),
    ]) {
      // With a document that waits, so that nothing is skipped.
      await bench.put(1, one);
      await bench.analyse({ beforeCommit: async (count) => (count === 1 ? change() : undefined) });
      loads.count = 0;
      await bench.analyse();
      expect(loads.count).toBe(1);
      await bench.analyse();
      expect(loads.count).toBe(1);
    }
  });

  it("looks again for a text that was not there", async () => {
    const bench = await small();
    await bench.put(7, edited(two, 10, "more"));
    const row = bench.documents.row(7);
    if (!row) throw new Error("the document is stored");
    await bench.documents.dropTexts([7]);
    await bench.analyse();
    expect(bench.documents.row(7)?.pending).toBe(true);
    const zstd = compressText(edited(two, 10, "more"), 1);
    await bench.documents.putTexts([{ docNo: 7, contentHash: row.contentHash, zstd }]);
    await bench.analyse();
    expect(members(bench)).toEqual([
      [1, 2, 3],
      [4, 7],
    ]);
  });

  it("sees edits, additions and removals", async () => {
    const bench = await small();
    await bench.analyse();
    const id = bench.groups()[0]?.row.id ?? "";
    await bench.put(7, edited(one, 10, "more"));
    await bench.put(8, edited(two, 10, "more"));
    expect(await bench.analyse()).toMatchObject({ groupsCreated: 1, groupsUpdated: 1 });
    expect(members(bench)).toEqual([
      [1, 2, 3, 7],
      [4, 8],
    ]);
    expect(bench.group(id)?.row.members).toEqual([1, 2, 3, 7]);
    await bench.put(8, prose(9));
    await bench.remove(7);
    expect(bench.group(id)?.row.members).toEqual([1, 2, 3]);
    expect(await bench.analyse()).toMatchObject({
      groupsCreated: 0,
      groupsUpdated: 1,
      groupsRemoved: 1,
    });
    expect(members(bench)).toEqual([[1, 2, 3]]);
    expect(
      bench.env.read((snapshot) => [snapshot.count(groups), snapshot.count(decisions)]),
    ).toEqual([1, 1]);
  });

  it("chooses another primary when the metadata changes, without a new text", async () => {
    const bench = await small();
    await bench.analyse();
    expect(bench.groups()[0]?.row.suggestedPrimary).toBe(1);
    await bench.put(3, one, { correspondent: "Ada", pending: false });
    await bench.analyse();
    expect(bench.groups()[0]?.row.suggestedPrimary).toBe(3);
  });

  it("compares nothing when only metadata have changed, and says what a full one says", async () => {
    const bench = await small();
    const loads = bench.comparisons;
    await bench.put(7, edited(two, 10, "more"));
    await bench.put(8, two);
    await bench.analyse();
    const [, rejected] = bench.groups();
    await decide(bench, rejected?.row.id ?? "", GroupStatus.FALSE_POSITIVE);
    await bench.analyse();
    for (const [change, primary] of [
      [() => bench.put(3, one, { correspondent: "Ada", pending: false }), 3],
      [() => bench.put(1, one, { correspondent: "Ada", tags: ["bill"], pending: false }), 1],
      [() => bench.put(8, two, { correspondent: "Bob", pending: false }), 1],
      [() => bench.put(5, "", { title: "Another title", pending: false }), 1],
    ] as const) {
      await change();
      loads.count = 0;
      const runs = { ...bench.pool.runs };
      const result = await bench.analyse();
      expect(result).toMatchObject({
        totalDocuments: 8,
        signaturesGenerated: 0,
        signaturesReused: 4,
        groupsCreated: 0,
        groupsRemoved: 0,
      });
      expect(loads.count).toBe(0);
      for (const task of ["sign", "join", "cover", "verify"])
        expect([task, bench.pool.runs[task]]).toEqual([task, runs[task]]);
      const after = bench.groups();
      expect(after[0]?.row.suggestedPrimary).toBe(primary);
      await bench.analyse({ force: true });
      expect(bench.groups().map(withoutTime)).toEqual(after.map(withoutTime));
      expect(bench.env.read((snapshot) => metaNumber(snapshot, "totalGroups"))).toBe(2);
    }
  });

  it("describes again what changed while the last one ran", async () => {
    const bench = await small();
    const loads = bench.comparisons;
    const touch = () => bench.put(3, one, { correspondent: "Ada", pending: false });
    for (const at of [3, 4]) {
      await bench.put(3, one, { pending: true });
      await bench.analyse({ beforeCommit: async (count) => (count === at ? touch() : undefined) });
      loads.count = 0;
      await bench.analyse();
      expect([at, loads.count, bench.groups()[0]?.row.suggestedPrimary]).toEqual([at, 0, 3]);
      await bench.put(3, one);
      await bench.analyse();
      expect(bench.groups()[0]?.row.suggestedPrimary).toBe(1);
    }
  });

  it("leaves a document waiting that changed while it ran", async () => {
    const bench = await small();
    await bench.analyse({
      beforeCommit: async (count) => {
        if (count === 0) await bench.put(4, edited(one, 5, "late"));
      },
    });
    expect([4, 1].map((docNo) => bench.documents.row(docNo)?.pending)).toEqual([true, false]);
    await bench.analyse();
    expect(members(bench)).toEqual([[1, 2, 3, 4]]);
  });

  it("does not bring back a document that was removed while it ran", async () => {
    for (let at = 0; at < 8; at++) {
      const bench = await small();
      await bench.put(7, edited(one, 20, "seven"));
      await bench.analyse({
        beforeCommit: async (count) => {
          if (count === at) await bench.remove(7);
        },
      });
      expect(members(bench)).toEqual(bench.documents.row(7) ? [[1, 2, 3, 7]] : [[1, 2, 3]]);
    }
  });
});

describe("an analysis that ends early", () => {
  it("leaves the groups as they were, and the next one ends as if nothing had happened", async () => {
    const undisturbed = await small();
    await undisturbed.analyse();
    await undisturbed.put(7, edited(one, 10, "more"));
    await undisturbed.put(8, edited(two, 10, "more"));
    let commits = 0;
    await undisturbed.analyse({ beforeCommit: () => void commits++ });
    const expected = undisturbed
      .groups()
      .map(({ row }) => [row.members, row.confidence, row.reasons]);
    for (let at = 0; at < commits; at++) {
      const bench = await small();
      await bench.analyse();
      const before = bench.groups();
      await bench.put(7, edited(one, 10, "more"));
      await bench.put(8, edited(two, 10, "more"));
      const generation = bench.env.read((snapshot) => metaNumber(snapshot, "generation"));
      await expect(
        bench.analyse({
          beforeCommit: (count) => {
            if (count === at) throw new Error("power off");
          },
        }),
      ).rejects.toThrow("power off");
      if (bench.env.read((snapshot) => metaNumber(snapshot, "generation")) === generation)
        expect(bench.groups()).toEqual(before);
      await bench.analyse();
      expect(bench.groups().map(({ row }) => [row.members, row.confidence, row.reasons])).toEqual(
        expected,
      );
      expect(
        bench.env.read((snapshot) => [snapshot.count(groups), snapshot.count(decisions)]),
      ).toEqual([2, 2]);
    }
  });

  it("after new metadata leaves the groups as they were, too", async () => {
    const touched = async (): Promise<Bench> => {
      const bench = await small();
      await bench.put(7, edited(two, 10, "more"));
      await bench.analyse();
      await bench.put(3, one, { correspondent: "Ada", pending: false });
      await bench.put(7, edited(two, 10, "more"), { correspondent: "Bob", pending: false });
      return bench;
    };
    const undisturbed = await touched();
    let commits = 0;
    await undisturbed.analyse({ beforeCommit: () => void commits++ });
    const expected = undisturbed.groups().map(withoutTime);
    expect(commits).toBeGreaterThan(3);
    for (let at = 0; at < commits; at++) {
      const bench = await touched();
      const before = bench.groups();
      const generation = bench.env.read((snapshot) => metaNumber(snapshot, "generation"));
      await expect(
        bench.analyse({
          beforeCommit: (count) => {
            if (count === at) throw new Error("power off");
          },
        }),
      ).rejects.toThrow("power off");
      if (bench.env.read((snapshot) => metaNumber(snapshot, "generation")) === generation)
        expect(bench.groups()).toEqual(before);
      await bench.analyse();
      expect([at, bench.groups().map(withoutTime)]).toEqual([at, expected]);
    }
  });

  it("stops with the signal's reason", async () => {
    const bench = await small();
    const stop = new AbortController();
    await expect(
      bench.analyse({ signal: stop.signal, beforeCommit: () => stop.abort(new Error("stop")) }),
    ).rejects.toThrow(/stop|cancelled/);
    expect(bench.groups()).toEqual([]);
  });

  it("is followed by a restart that finds groups, list and decisions again", async () => {
    const directory = temporaryFolder();
    const bench = await openBench({ directory });
    await bench.put(1, one);
    await bench.put(2, one);
    await bench.analyse();
    await decide(bench, bench.groups()[0]?.row.id ?? "", GroupStatus.IGNORED);
    const before = bench.groups();
    await bench.close();
    const again = await openBench({ directory });
    expect(again.groups()).toEqual(before);
    expect(again.index.size).toBe(1);
  });
});
