import { describe, expect, it } from "vitest";
import { historyOf, statusOf } from "../../../src/dedup/groups/decision.ts";
import { restorePair } from "../../../src/dedup/groups/pair-decisions.ts";
import {
  acceptGroup,
  deleteGroup,
  setPrimary,
  withdrawGroup,
} from "../../../src/dedup/groups/review.ts";
import { decisions, groups } from "../../../src/dedup/tables.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import { temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import type { Bench } from "../groups/bench.ts";
import { edited, openBench, prose } from "../groups/bench.ts";
import { decide, members, one, small, two } from "./small-archive.ts";

describe("decisions", () => {
  it("survive analyses, with status, primary and history", async () => {
    const bench = await small();
    await bench.analyse();
    const id = bench.groups()[0]?.row.id ?? "";
    for (const status of [GroupStatus.IGNORED, GroupStatus.DELETED, GroupStatus.FALSE_POSITIVE]) {
      await decide(bench, id, status);
      const before = bench.group(id);
      await bench.analyse({ force: true });
      expect(bench.group(id)).toEqual(before);
      expect(bench.index.size).toBe(1);
    }
  });

  it("'not a duplicate' is not found again, holds for its pairs only, and is taken back by 'pending'", async () => {
    const bench = await small();
    await bench.analyse();
    const id = bench.groups()[0]?.row.id ?? "";
    await decide(bench, id, GroupStatus.FALSE_POSITIVE);
    await bench.put(7, one);
    await bench.analyse();
    expect(bench.groups().map(({ row }) => [row.id, row.members, row.gained])).toEqual([
      [id, [1, 2, 3, 7], true],
    ]);
    await bench.remove(7);
    await bench.analyse();
    expect(
      bench.groups().map(({ row, decision }) => [row.id, row.members, row.gained, decision.status]),
    ).toEqual([[id, [1, 2, 3], false, GroupStatus.FALSE_POSITIVE]]);
    await decide(bench, id, GroupStatus.PENDING);
    await bench.analyse();
    expect(
      bench.groups().map(({ row, decision }) => [row.id, row.members, decision.status]),
    ).toEqual([[id, [1, 2, 3], GroupStatus.PENDING]]);
  });

  it("'not a duplicate' is open again with the text of a member, and can be given anew", async () => {
    const bench = await openBench();
    await bench.put(1, one);
    await bench.put(2, edited(one, 30, "other"));
    await bench.analyse();
    const id = bench.groups()[0]?.row.id ?? "";
    await decide(bench, id, GroupStatus.FALSE_POSITIVE);
    await bench.put(2, one);
    await bench.analyse();
    const changed = bench.groups();
    expect(changed.map(({ row }) => [row.id, row.members])).toEqual([[id, [1, 2]]]);
    expect(changed.map(({ row, decision }) => statusOf(row, decision))).toEqual([
      GroupStatus.PENDING,
    ]);
    expect(changed.map(({ row, decision }) => historyOf(row, decision))).toMatchObject([
      [{ status: GroupStatus.FALSE_POSITIVE }],
    ]);
    await decide(bench, id, GroupStatus.FALSE_POSITIVE);
    for (const force of [false, true]) {
      await bench.analyse({ force });
      const [{ row, decision } = expect.fail("the group is gone")] = bench.groups();
      expect([row.members, statusOf(row, decision)]).toEqual([[1, 2], GroupStatus.FALSE_POSITIVE]);
    }
  });

  it("'not a duplicate' stays while a text changes and the group is not found, and is back with the text", async () => {
    const bench = await small();
    await bench.analyse();
    const id = bench.groups()[0]?.row.id ?? "";
    const statuses = (): GroupStatus[] =>
      bench.groups().map(({ row, decision }) => statusOf(row, decision));
    await decide(bench, id, GroupStatus.FALSE_POSITIVE);
    for (const [text, status] of [
      [prose(9), GroupStatus.FALSE_POSITIVE],
      [edited(one, 30, "third"), GroupStatus.PENDING],
      [prose(9), GroupStatus.FALSE_POSITIVE],
      [edited(one, 30, "third"), GroupStatus.PENDING],
      [edited(one, 30, "other"), GroupStatus.FALSE_POSITIVE],
    ] as const) {
      await bench.put(2, text);
      await bench.analyse();
      expect(statuses()).toEqual([status]);
      await bench.put(4, two, { title: `${text} and another title`, pending: false });
      await bench.put(1, one, { title: `beside ${text}`, pending: false });
      await bench.analyse();
      expect(statuses()).toEqual([status]);
    }
  });

  it("'not a duplicate' is open again when restored pairs hold all members together", async () => {
    const bench = await small();
    await bench.analyse();
    const id = bench.groups()[0]?.row.id ?? "";
    await decide(bench, id, GroupStatus.FALSE_POSITIVE);
    for (const [a, b] of [
      [1, 2],
      [1, 3],
    ] as const)
      expect(
        await bench.env.write((tx) => restorePair(tx, bench.index, { a, b, nowMs: 5 })),
      ).toEqual([]);
    await bench.analyse();
    const found = (): unknown[] =>
      bench.groups().map(({ row, decision }) => [row.members, statusOf(row, decision)]);
    expect(found()).toEqual([[[1, 2, 3], GroupStatus.PENDING]]);
    await bench.put(1, one, { title: "another title", pending: false });
    await bench.analyse();
    expect(found()).toEqual([[[1, 2, 3], GroupStatus.PENDING]]);
    await decide(bench, id, GroupStatus.FALSE_POSITIVE);
    await bench.analyse({ force: true });
    expect(found()).toEqual([[[1, 2, 3], GroupStatus.FALSE_POSITIVE]]);
  });

  it("rest while a group has new members and stand while it only loses some", async () => {
    const bench = await small();
    await bench.analyse();
    const id = bench.groups()[0]?.row.id ?? "";
    await decide(bench, id, GroupStatus.IGNORED);
    await bench.remove(2);
    await bench.analyse();
    expect(bench.group(id)?.row).toMatchObject({ members: [1, 3], gained: false });
    await bench.put(2, edited(one, 30, "other"));
    await bench.analyse();
    expect(bench.group(id)?.row).toMatchObject({ members: [1, 2, 3], gained: false });
    await bench.put(9, edited(one, 40, "nine"));
    await bench.analyse();
    expect(bench.group(id)?.row).toMatchObject({ members: [1, 2, 3, 9], gained: true });
  });

  it("given while an analysis runs are in its result, whenever they come", async () => {
    const first = await openBench({ directory: temporaryFolder() });
    let commits = 0;
    await first.put(1, one);
    await first.put(2, one);
    await first.analyse({
      beforeCommit: (count) => {
        commits = Math.max(commits, count);
      },
    });
    for (let at = 0; at <= commits; at++) {
      const bench = await openBench();
      for (const [docNo, text] of [
        [1, one],
        [2, one],
        [3, two],
        [4, two],
      ] as const)
        await bench.put(docNo, text);
      await bench.analyse();
      const [kept, dropped] = bench.groups().map(({ row }) => row.id) as [string, string];
      await bench.put(2, prose(50));
      let decided = false;
      await bench.analyse({
        beforeCommit: async (count) => {
          if (count !== at) return;
          decided = bench.group(kept) !== undefined;
          if (decided) await decide(bench, kept, GroupStatus.IGNORED);
          await bench.env.write((tx) => deleteGroup(tx, bench.index, dropped));
        },
      });
      expect([at, bench.group(kept)?.decision.status]).toEqual([
        at,
        decided ? GroupStatus.IGNORED : undefined,
      ]);
      expect(bench.index.size).toBe(bench.env.read((snapshot) => snapshot.count(groups)));
      await bench.analyse();
      expect(members(bench)).toContainEqual([3, 4]);
    }
  });
});

describe("'not a duplicate' that is taken back while an analysis runs", () => {
  it("leaves the group as it was, whenever that is, and the next analysis finds it again", async () => {
    for (let at = 0, last = false; !last; at++) {
      const bench = await small();
      await bench.analyse();
      const [before = expect.fail("no group")] = bench.groups();
      const { id } = before.row;
      await decide(bench, id, GroupStatus.FALSE_POSITIVE);
      last = true;
      await bench.analyse({
        force: true,
        beforeCommit: async (count) => {
          if (count !== at) return;
          last = false;
          await decide(bench, id, GroupStatus.PENDING);
        },
      });
      if (last) await decide(bench, id, GroupStatus.PENDING);
      for (const round of ["this one", "the next one", "one more"]) {
        const [found, ...others] = bench.groups();
        expect([at, round, found?.row.id, others.length]).toEqual([at, round, id, 0]);
        expect(found?.row.members).toEqual([1, 2, 3]);
        expect(found?.decision.status).toBe(GroupStatus.PENDING);
        expect(found?.row.confidence).toBe(before.row.confidence);
        await bench.analyse({ force: round === "the next one" });
      }
    }
  });

  it("lets the next analysis find what has changed of it", async () => {
    const bench = await small();
    await bench.analyse();
    const id = bench.groups()[0]?.row.id ?? "";
    await decide(bench, id, GroupStatus.FALSE_POSITIVE);
    await bench.put(2, prose(50));
    await bench.analyse({
      beforeCommit: async (count) => {
        if (count === 0) await decide(bench, id, GroupStatus.PENDING);
      },
    });
    expect(members(bench)).toEqual([[1, 2, 3]]);
    await bench.analyse();
    expect(members(bench)).toEqual([[1, 3]]);
    expect(bench.group(id)?.decision.status).toBe(GroupStatus.PENDING);
  });
});

describe("a decided group that is not found again", () => {
  it("stays gone when it is deleted while an analysis runs, whenever that is", async () => {
    for (let at = 0, last = false; !last; at++) {
      const bench = await openBench();
      await bench.put(1, one);
      await bench.put(2, one);
      await bench.analyse();
      const id = bench.groups()[0]?.row.id ?? "";
      await decide(bench, id, GroupStatus.IGNORED);
      await bench.put(2, prose(50));
      last = true;
      await bench.analyse({
        beforeCommit: async (count) => {
          if (count !== at) return;
          last = false;
          await bench.env.write((tx) => deleteGroup(tx, bench.index, id));
        },
      });
      expect([at, bench.groups().length]).toEqual([at, last ? 1 : 0]);
      expect(bench.env.read((snapshot) => snapshot.count(decisions))).toBe(last ? 1 : 0);
    }
  });
});

describe("a pending group that was accepted or has a chosen primary", () => {
  interface Reviewed extends Bench {
    readonly parameters: { similarityThreshold?: number };
    readonly accepted: string;
    readonly chosen: string;
    /** Takes up again what was stored. */
    reopen(): Promise<Bench>;
  }

  /** Documents 1 and 2 are an accepted group, of 3 and 4 the second is to stay, 5 and 6 are a group. */
  async function reviewed(): Promise<Reviewed> {
    const parameters: { similarityThreshold?: number } = {};
    const directory = temporaryFolder();
    const bench = await openBench({ directory, parameters });
    for (const [at, text] of [one, two, prose(3)].entries()) {
      await bench.put(2 * at + 1, text);
      await bench.put(2 * at + 2, edited(text, 30, "other"));
    }
    await bench.analyse();
    const [accepted, chosen] = bench.groups().map(({ row }) => row.id) as [string, string];
    const nowMs = bench.clock.now();
    await bench.env.write((tx) => {
      acceptGroup(tx, bench.index, accepted, nowMs);
      const documentId = "document-4";
      setPrimary(tx, bench.index, { id: chosen, docNo: 4, documentId, nowMs });
    });
    const reopen = async (): Promise<Bench> => {
      await bench.close();
      return await openBench({ directory, parameters });
    };
    return { ...bench, parameters, accepted, chosen, reopen };
  }

  const inPlan = ({ index }: Bench): readonly string[] =>
    index.listed().flatMap(({ id, accepted }) => (accepted ? [id] : []));
  const stored = ({ env }: Bench): number[] =>
    env.read((snapshot) => [snapshot.count(groups), snapshot.count(decisions)]);

  function expectReviewed(bench: Bench, { accepted, chosen }: Reviewed): void {
    expect(members(bench)).toEqual([
      [1, 2],
      [3, 4],
      [5, 6],
    ]);
    expect(inPlan(bench)).toEqual([accepted]);
    expect(bench.group(chosen)?.decision.primary).toBe(4);
    expect(stored(bench)).toEqual([3, 3]);
  }

  it.each([
    ["finds no group", []],
    ["finds others", [7, 8]],
  ])(
    "is out of sight while an analysis with another threshold %s, and comes back as it was",
    async (_name, copies) => {
      const bench = await reviewed();
      const before = [bench.accepted, bench.chosen].map((id) => bench.group(id)?.decision);
      for (const docNo of copies) await bench.put(docNo, prose(7));
      bench.parameters.similarityThreshold = 0.999;
      expect(await bench.analyse()).toMatchObject({ groupsRemoved: 3 });
      const others = copies.length === 0 ? [] : [copies];
      for (let round = 0; round < 2; round++) {
        expect([members(bench), inPlan(bench)]).toEqual([others, []]);
        expect(bench.group(bench.accepted)).toBeUndefined();
        expect(stored(bench)).toEqual([2 + others.length, 2 + others.length]);
        await bench.analyse({ force: true });
      }
      for (const docNo of copies) await bench.remove(docNo);
      delete bench.parameters.similarityThreshold;
      expect(await bench.analyse()).toMatchObject({ groupsCreated: 3, groupsUpdated: 0 });
      expectReviewed(bench, bench);
      expect([bench.accepted, bench.chosen].map((id) => bench.group(id)?.decision)).toEqual(before);
      await bench.analyse({ force: true });
      expectReviewed(bench, bench);
    },
  );

  it("comes back after a restart, too", async () => {
    const bench = await reviewed();
    bench.parameters.similarityThreshold = 0.999;
    await bench.analyse();
    delete bench.parameters.similarityThreshold;
    const again = await bench.reopen();
    expect([members(again), inPlan(again)]).toEqual([[], []]);
    await again.analyse();
    expectReviewed(again, bench);
  });

  it("comes back whenever an analysis before died", async () => {
    for (const ends of ["losing", "finding"] as const) {
      for (let at = 0, died = true; died; at++) {
        const bench = await reviewed();
        died = false;
        const dying = async (isDying: boolean): Promise<void> => {
          const beforeCommit = (count: number): void => {
            if (!isDying || count !== at) return;
            died = true;
            throw new Error("power off");
          };
          if (!isDying) return void (await bench.analyse());
          await bench.analyse({ beforeCommit }).catch(() => undefined);
        };
        bench.parameters.similarityThreshold = 0.999;
        await dying(ends === "losing");
        delete bench.parameters.similarityThreshold;
        await dying(ends === "finding");
        await bench.analyse({ force: true });
        // What a crash left is removed by the analysis that follows.
        await bench.analyse({ force: true });
        expectReviewed(bench, bench);
      }
    }
  });

  it("is forgotten when one document of it is left, or nothing was decided any more", async () => {
    const bench = await reviewed();
    await bench.env.write((tx) => {
      withdrawGroup(tx, bench.index, bench.accepted, bench.clock.now());
    });
    bench.parameters.similarityThreshold = 0.999;
    await bench.analyse();
    expect(stored(bench)).toEqual([1, 1]);
    await bench.remove(4);
    await bench.analyse();
    expect(stored(bench)).toEqual([0, 0]);
  });

  it("stays gone when its documents are purged", async () => {
    const bench = await reviewed();
    bench.parameters.similarityThreshold = 0.999;
    await bench.analyse();
    await bench.membership.forgetAll(
      async (change) => await bench.env.write(change),
      new AbortController().signal,
    );
    expect(stored(bench)).toEqual([0, 0]);
  });
});
