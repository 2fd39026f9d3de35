import { describe, expect, it } from "vitest";
import type { AnalysisParameters } from "../../../src/dedup/analysis/parameters.ts";
import { mulberry32 } from "../../../bench/corpus.ts";
import {
  deleteGroup,
  setPrimary,
  setStatus,
  visibleMembers,
} from "../../../src/dedup/groups/review.ts";
import type { StoredGroup } from "../../../src/dedup/groups/store.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import { temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import { edited, openBench, prose } from "../groups/bench.ts";
import type { Bench } from "../groups/bench.ts";

/** Everything of the groups that an analysis decides, with what was decided about them. */
function shown(bench: Bench): unknown[] {
  return bench.groups().map(({ row, decision }) => {
    const { updatedAtMs: _, $unknown: __, ...rest } = row;
    const { status, decidedMembers, primary, history } = decision;
    return { ...rest, status, decidedMembers, primary, past: history.map((one) => one.status) };
  });
}

function isVisible(group: StoredGroup): boolean {
  return visibleMembers(group).length > 0;
}

/** Runs of tasks that verify pairs. */
function verifications({ pool: { runs } }: Bench): number {
  return (runs["cover"] ?? 0) + (runs["verify"] ?? 0);
}

describe("an analysis after another", () => {
  for (const seed of [1, 2, 3, 4, 5, 6])
    it(`gives what a full one gives, whatever was inserted, edited, deleted, decided, chosen and restarted (seed ${seed})`, async () => {
      const random = mulberry32(seed);
      const pick = (below: number): number => Math.floor(random() * below);
      const folders = [temporaryFolder(), temporaryFolder()] as const;
      let parameters: Partial<AnalysisParameters> = {};
      const open = (): Promise<[Bench, Bench]> =>
        Promise.all([
          openBench({ directory: folders[0], parameters }),
          openBench({ directory: folders[1], parameters }),
        ]);
      /** Runs after runs, and full runs. */
      let benches = await open();
      const texts = new Map<number, string>();
      let next = 1;
      const text = (): string => {
        const known = [...texts.values()];
        const base = known.length > 0 && random() < 0.75 ? known[pick(known.length)] : undefined;
        if (base === undefined) return prose(pick(1_000));
        if (random() < 0.2) return base;
        return edited(base, pick(60), `edit${pick(10_000)}`);
      };
      const put = async (docNo: number): Promise<void> => {
        texts.set(docNo, text());
        for (const bench of benches) await bench.put(docNo, texts.get(docNo) ?? "");
      };
      const steps: readonly (() => Promise<void>)[] = [
        () => put(next++),
        () => put(next++),
        async () => {
          const docNo = [...texts.keys()][pick(texts.size)];
          if (docNo !== undefined) await put(docNo);
        },
        async () => {
          const docNo = [...texts.keys()][pick(texts.size)];
          if (docNo === undefined) return;
          texts.delete(docNo);
          for (const bench of benches) await bench.remove(docNo);
        },
        async () => {
          const groups = benches[0].groups();
          const group = groups[pick(groups.length)];
          const statuses = [
            GroupStatus.FALSE_POSITIVE,
            GroupStatus.FALSE_POSITIVE,
            GroupStatus.PENDING,
            GroupStatus.IGNORED,
            GroupStatus.DELETED,
          ];
          const status = statuses[pick(statuses.length)] ?? GroupStatus.PENDING;
          if (group === undefined) return;
          const { id, members } = group.row;
          // Such a group cannot come back.
          if (group.decision.status === GroupStatus.DELETED && members.length < 2) return;
          for (const bench of benches)
            await bench.env.write((tx) =>
              setStatus(tx, bench.index, { id, status, nowMs: bench.clock.now() }),
            );
        },
        async () => {
          const shownGroups = benches[0].groups().filter(isVisible);
          const group = shownGroups[pick(shownGroups.length)];
          const docNo = group?.row.members[pick(group.row.members.length)];
          if (group === undefined || docNo === undefined) return;
          const choice = { id: group.row.id, docNo, documentId: `document-${docNo}` };
          for (const bench of benches)
            await bench.env.write((tx) =>
              setPrimary(tx, bench.index, { ...choice, nowMs: bench.clock.now() }),
            );
        },
        async () => {
          const groups = benches[0].groups();
          const group = groups[pick(groups.length)];
          for (const bench of group ? benches : [])
            await bench.env.write((tx) => deleteGroup(tx, bench.index, group?.row.id ?? ""));
        },
        // The text of a document on which a verdict stands.
        async () => {
          const decided = benches[0].groups().flatMap(({ decision }) => decision.decidedMembers);
          const docNo = decided[pick(decided.length)];
          if (docNo !== undefined && texts.has(docNo)) await put(docNo);
        },
        async () => {
          for (const bench of benches) await bench.close();
          benches = await open();
        },
        async () => {
          for (const bench of benches) await bench.close();
          const choices = [{}, { similarityThreshold: 0.9 }, { confidenceWeightFuzzy: 50 }];
          parameters = { ...choices[pick(choices.length)] };
          if (parameters.confidenceWeightFuzzy !== undefined)
            parameters = { ...parameters, confidenceWeightJaccard: 50 };
          benches = await open();
        },
        // Both runs end at the same write, and with that as if the process had died. A run has few
        // writes when nothing has changed.
        async () => {
          await put(next++);
          const last = pick(8);
          for (const [at, bench] of benches.entries())
            await bench
              .analyse({
                force: at === 1,
                beforeCommit(count) {
                  if (count >= last) throw new Error("died");
                },
              })
              .catch((error: unknown) => expect(String(error)).toContain("died"));
        },
      ];
      for (let docNo = 0; docNo < 12; docNo += 1) await put(next++);
      for (let round = 0; round < 12; round += 1) {
        for (let step = pick(6); step >= 0; step -= 1) await steps[pick(steps.length)]?.();
        await benches[0].analyse();
        await benches[1].analyse({ force: true });
        expect(shown(benches[0])).toEqual(shown(benches[1]));
      }
      for (const bench of benches) await bench.close();
    });

  it("verifies nothing when only dates or metadata changed, also after a restart", async () => {
    const directory = temporaryFolder();
    const bench = await openBench({ directory });
    for (const seed of [1, 2, 3]) {
      await bench.put(seed * 10, prose(seed));
      await bench.put(seed * 10 + 1, edited(prose(seed), 30, "other"));
    }
    await bench.analyse();
    expect(bench.groups()).toHaveLength(3);
    const before = verifications(bench);
    expect(before).toBeGreaterThan(0);
    await bench.put(10, prose(1), { createdDate: "2020-01-01", correspondent: "Ada" });
    await bench.analyse();
    expect(bench.groups()[0]?.row.suggestedPrimary).toBe(10);
    expect(verifications(bench)).toBe(before);
    await bench.close();
    const again = await openBench({ directory });
    await again.analyse();
    expect(verifications(again)).toBe(0);
    await again.close();
  });

  it("verifies only the component that a new text joins", async () => {
    const bench = await openBench();
    for (let seed = 0; seed < 40; seed += 1) {
      await bench.put(seed * 10, prose(seed));
      await bench.put(seed * 10 + 1, edited(prose(seed), 30, "other"));
    }
    await bench.analyse();
    const texts: number[] = [];
    const map = bench.pool.map.bind(bench.pool);
    bench.pool.map = (task, inputs, options) =>
      map(
        task,
        (async function* noted() {
          for await (const input of inputs) {
            if (task.name === "cover")
              texts.push((input as unknown as { texts: { ends: Uint32Array } }).texts.ends.length);
            yield input;
          }
        })(),
        options,
      );
    await bench.put(9_999, edited(prose(7), 12, "third"));
    await bench.analyse();
    expect(texts).toEqual([3]);
    await bench.close();
  });

  it("keeps the scores when a weight changes, and verifies where one is missing", async () => {
    const directory = temporaryFolder();
    const open = (confidenceWeightFuzzy: number): Promise<Bench> =>
      openBench({
        directory,
        parameters: { confidenceWeightFuzzy, confidenceWeightJaccard: 100 - confidenceWeightFuzzy },
      });
    let bench = await open(40);
    await bench.put(1, prose(1));
    await bench.put(2, edited(prose(1), 30, "other"));
    await bench.analyse();
    const [before] = bench.groups();
    await bench.close();
    bench = await open(50);
    await bench.analyse();
    expect(verifications(bench)).toBe(0);
    const [after] = bench.groups();
    expect(after?.row.fuzzy).toBe(before?.row.fuzzy);
    expect(after?.row.confidence).toBeCloseTo(
      ((before?.row.jaccard ?? 0) + (before?.row.fuzzy ?? 0)) / 2,
      12,
    );
    await bench.close();
    bench = await open(0);
    await bench.analyse();
    expect(bench.groups()[0]?.row.confidence).toBeCloseTo(before?.row.jaccard ?? 0, 12);
    expect(bench.groups()[0]?.row.fuzzy).toBeUndefined();
    await bench.close();
  });
});
