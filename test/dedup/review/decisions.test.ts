import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ReportableGroup } from "../../../src/dedup/analysis/outcome.ts";
import { newGroupId } from "../../../src/dedup/groups/identity.ts";
import { loadDecisions } from "../../../src/dedup/review/decisions.ts";
import type { Decisions, ReviewedGroup, Undo } from "../../../src/dedup/review/decisions.ts";
import type { ReviewedCorpus } from "../../../src/dedup/review/numbers.ts";
import { reviewStore } from "../../../src/dedup/review/store.ts";
import { decisions as decisionTable, groups as groupTable } from "../../../src/dedup/tables.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { createStateFactory } from "../../../src/kernel/state/state-factory.ts";
import type { Env } from "../../../src/kernel/state/types.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

async function openStore(): Promise<Env> {
  const directory = mkdtempSync(join(tmpdir(), "steward-review-"));
  folders.push(directory);
  const log = createLog({ level: "error", format: "text", write: () => {}, now: () => 0 });
  return await createStateFactory({ directory, clock: systemClock, log }).open(reviewStore);
}

/** Documents of a run: name and version of the text. */
type Documents = Readonly<Record<string, number>>;

function corpusOf(documents: Documents): ReviewedCorpus & { number(name: string): number } {
  const names = Object.keys(documents);
  return {
    size: names.length,
    number: (name) => names.indexOf(name),
    document: (number) => {
      const ref = names[number] ?? "";
      return { archive: "", archiveRef: ref, ref, title: ref, wordCount: 10 };
    },
    source: (number) => {
      const ref = names[number];
      return ref === undefined
        ? undefined
        : { kind: "folder", path: "/pile", ref, version: "", line: 0, sharesFile: false };
    },
    textHash: (number) => Buffer.from(`${names[number]} ${documents[names[number] ?? ""]}`),
  };
}

/** A group as an analysis finds it; the first name is the suggested primary. */
function groupOf(corpus: ReturnType<typeof corpusOf>, names: readonly string[]): ReportableGroup {
  const scores = { confidence: 0.9, jaccard: 0.9, fuzzy: 0.9, discriminative: 1 };
  const numbers = names.map((name) => corpus.number(name));
  const members = numbers.map((number, at) => ({
    number,
    ref: names[at] ?? "",
    title: "",
    wordCount: 10,
    primary: at === 0,
  }));
  const sorted = numbers.toSorted((a, b) => a - b);
  const texts = [...sorted.keys()];
  const found = { members: sorted, texts, ranks: texts, pairs: [], scores, verified: 1 };
  return { id: newGroupId(0, names), ...scores, members, reasons: [], pairs: 1, found };
}

interface Run {
  readonly decisions: Decisions;
  readonly groups: readonly ReviewedGroup[];
  readonly kept: readonly ReviewedGroup[];
  readonly names: (numbers: readonly number[]) => string[];
}

async function run(
  env: Env,
  documents: Documents,
  found: readonly (readonly string[])[],
): Promise<Run> {
  const corpus = corpusOf(documents);
  const { signal } = new AbortController();
  const decisions = await loadDecisions({ env, corpus, clock: systemClock, signal });
  const matched = await decisions.match(found.map((names) => groupOf(corpus, names)));
  return {
    decisions,
    ...matched,
    names: (numbers) => numbers.map((number) => corpus.document(number).ref).sort(),
  };
}

const abc: Documents = { a: 1, b: 1, c: 1 };

function only<T>(values: readonly T[]): T {
  expect(values).toHaveLength(1);
  return values[0] as T;
}

describe("decisions over several runs", () => {
  it("hold for the same group, whatever the order of the documents", async () => {
    const env = await openStore();
    const first = await run(env, abc, [["a", "b", "c"]]);
    await first.decisions.decide(only(first.groups), "accepted");
    const second = await run(env, { c: 1, x: 1, b: 1, a: 1 }, [["c", "b", "a"]]);
    expect(only(second.groups)).toMatchObject({ accepted: true, status: GroupStatus.PENDING });
    expect(only(second.groups).group.id).toBe(only(first.groups).group.id);
    await env.close();
  });

  it("open again when a member is new, and are back when it is gone", async () => {
    const env = await openStore();
    const first = await run(env, abc, [["a", "b"]]);
    await first.decisions.decide(only(first.groups), "accepted");
    const { id } = only(first.groups).group;
    const grown = await run(env, abc, [["a", "b", "c"]]);
    expect(only(grown.groups)).toMatchObject({ accepted: false, group: { id } });
    const back = await run(env, { a: 1, b: 1 }, [["a", "b"]]);
    expect(only(back.groups)).toMatchObject({ accepted: true, group: { id } });
    await env.close();
  });

  it("survive the loss of a member, and runs that read only a part, or nothing of it", async () => {
    const env = await openStore();
    const first = await run(env, abc, [["a", "b", "c"]]);
    await first.decisions.decide(only(first.groups), "accepted");
    expect(only((await run(env, { b: 1, c: 1 }, [["b", "c"]])).groups).accepted).toBe(true);
    expect((await run(env, { x: 1, y: 1 }, [["x", "y"]])).groups[0]?.accepted).toBe(false);
    expect(only((await run(env, { a: 1, b: 1 }, [["a", "b"]])).groups).accepted).toBe(true);
    expect(only((await run(env, abc, [["a", "b", "c"]])).groups).accepted).toBe(true);
    await env.close();
  });

  it("reject every pair of the members, until a text changes or the decision is taken back", async () => {
    const env = await openStore();
    const first = await run(env, abc, [["a", "b", "c"]]);
    await first.decisions.decide(only(first.groups), "rejected");
    const second = await run(env, abc, []);
    expect(second.names(only(second.decisions.rejections))).toEqual(["a", "b", "c"]);
    expect(only(second.kept).status).toBe(GroupStatus.FALSE_POSITIVE);
    const changed = await run(env, { a: 2, b: 1, c: 1 }, [["a", "b"]]);
    expect(changed.names(only(changed.decisions.rejections))).toEqual(["b", "c"]);
    const third = await run(env, abc, []);
    await third.decisions.decide(only(third.kept), "pending");
    expect((await run(env, abc, [["a", "b", "c"]])).decisions.rejections).toEqual([]);
    await env.close();
  });

  it("are open again where a rejected group is found with another text, and can be given anew", async () => {
    const env = await openStore();
    const first = await run(env, abc, [["a", "b"]]);
    await first.decisions.decide(only(first.groups), "rejected");
    const texts = { ...abc, b: 2 };
    const changed = await run(env, texts, [["a", "b"]]);
    expect(only(changed.groups)).toMatchObject({ status: GroupStatus.PENDING, gained: true });
    const { group } = await changed.decisions.decide(only(changed.groups), "rejected");
    expect(group).toMatchObject({ status: GroupStatus.FALSE_POSITIVE, gained: false });
    const again = await run(env, texts, []);
    expect(again.names(only(again.decisions.rejections))).toEqual(["a", "b"]);
    expect(only(again.kept).status).toBe(GroupStatus.FALSE_POSITIVE);
    await env.close();
  });

  it("of a rejected group stay while a text of it changes and it is not found", async () => {
    const env = await openStore();
    const first = await run(env, abc, [["a", "b"]]);
    await first.decisions.decide(only(first.groups), "rejected");
    const changed = await run(env, { ...abc, b: 2 }, []);
    expect(only(changed.kept)).toMatchObject({ status: GroupStatus.FALSE_POSITIVE, gained: false });
    await env.close();
  });

  it("keep a chosen primary while it is a member", async () => {
    const env = await openStore();
    const first = await run(env, abc, [["a", "b", "c"]]);
    const { group } = await first.decisions.choosePrimary(only(first.groups), 2);
    expect(group).toMatchObject({
      chosen: true,
      group: { members: [{ ref: "c", primary: true }, {}, {}] },
    });
    const second = await run(env, abc, [["a", "b", "c"]]);
    expect(only(second.groups).group.members[0]).toMatchObject({ ref: "c", primary: true });
    expect(second.names([...second.decisions.chosenPrimaries()])).toEqual(["c"]);
    const without = await run(env, { a: 1, b: 1 }, [["a", "b"]]);
    expect(only(without.groups)).toMatchObject({ chosen: false });
    expect(only(without.groups).group.members[0]).toMatchObject({ ref: "a", primary: true });
    await env.close();
  });

  it("name the members whose text changed after the group was accepted", async () => {
    const env = await openStore();
    const first = await run(env, abc, [["a", "b", "c"]]);
    await first.decisions.decide(only(first.groups), "accepted");
    const second = await run(env, { ...abc, b: 2 }, [["a", "b", "c"]]);
    expect(only(second.groups).accepted).toBe(true);
    expect(second.names([...only(second.groups).changed])).toEqual(["b"]);
    await env.close();
  });

  it("take a changed text when the group is accepted again, and not any more when that is undone", async () => {
    const env = await openStore();
    const first = await run(env, abc, [["a", "b", "c"]]);
    await first.decisions.decide(only(first.groups), "accepted");
    const texts = { ...abc, b: 2 };
    const second = await run(env, texts, [["a", "b", "c"]]);
    const { group, undo } = await second.decisions.decide(only(second.groups), "accepted");
    expect([group.accepted, group.changed.size]).toEqual([true, 0]);
    expect(second.names([...(await undo()).changed])).toEqual(["b"]);
    await second.decisions.decide(group, "accepted");
    const third = await run(env, texts, [["a", "b", "c"]]);
    expect(only(third.groups)).toMatchObject({ accepted: true, changed: new Set() });
    await env.close();
  });

  it("outlast a run that reads the documents and does not find the group, e.g. with another threshold", async () => {
    const env = await openStore();
    const documents: Documents = { a: 1, b: 1, c: 1, d: 1 };
    const found = [
      ["a", "b"],
      ["c", "d"],
    ];
    const [accepted, chosen] = (await run(env, documents, found)).groups;
    const { decisions } = await run(env, documents, found);
    await decisions.decide(accepted!, "accepted");
    await decisions.choosePrimary(chosen!, 3);
    const without = await run(env, documents, []);
    expect([without.groups, without.kept]).toEqual([[], []]);
    const again = await run(env, documents, found);
    expect(again.groups).toMatchObject([
      { accepted: true, group: { id: accepted!.group.id } },
      { chosen: true, group: { id: chosen!.group.id, members: [{ ref: "d", primary: true }, {}] } },
    ]);
    await env.close();
  });

  it("of which nothing stands any more are forgotten once all their documents are read and the group is not found", async () => {
    const env = await openStore();
    const first = await run(env, abc, [["a", "b"]]);
    await first.decisions.decide(only(first.groups), "accepted");
    await first.decisions.decide(only(first.groups), "pending");
    const rows = (): number => env.read((snapshot) => snapshot.count(groupTable as never));
    await run(env, { a: 1 }, []);
    expect(rows()).toBe(1);
    await run(env, abc, []);
    expect(rows()).toBe(0);
    await env.close();
  });
});

describe("random reviews", () => {
  it("undo to the very rows that were there, and keep what was last decided over restarts", async () => {
    for (let seed = 1; seed <= 12; seed += 1) {
      const next = random(seed);
      const env = await openStore();
      const rows = (): unknown =>
        env.read((snapshot) => [
          [...snapshot.range(groupTable)],
          [...snapshot.range(decisionTable)],
        ]);
      const names = ["a", "b", "c", "d", "e", "f", "g", "h"];
      const documents = Object.fromEntries(names.map((name) => [name, 1]));
      const found = [
        ["a", "b", "c"],
        ["c", "d"],
        ["e", "f", "g", "h"],
      ];
      const wanted = new Map<string, { accepted: boolean; rejected: boolean }>();
      for (let restart = 0; restart < 4; restart += 1) {
        const isRejected = (group: readonly string[]): boolean =>
          wanted.get(group.join())?.rejected === true;
        const own = await run(
          env,
          documents,
          found.filter((group) => !isRejected(group)),
        );
        const all = [...own.groups, ...own.kept];
        const steps: { before: unknown; undo: Undo }[] = [];
        for (const reviewed of all) {
          const key = own.names(reviewed.group.found.members).join();
          expect(
            {
              accepted: reviewed.accepted,
              rejected: reviewed.status === GroupStatus.FALSE_POSITIVE,
            },
            `seed ${seed}, group ${key}`,
          ).toEqual(wanted.get(key) ?? { accepted: false, rejected: false });
        }
        for (let step = 0; step < 4; step += 1) {
          const at = Math.floor(next() * all.length);
          const verdict =
            (["accepted", "rejected", "pending"] as const)[Math.floor(next() * 3)] ?? "pending";
          const before = rows();
          const done = await own.decisions.decide(all[at] as ReviewedGroup, verdict);
          if (next() < 0.4) steps.push({ before, undo: done.undo });
          else {
            all[at] = done.group;
            const key = own.names(done.group.group.found.members).join();
            wanted.set(key, { accepted: verdict === "accepted", rejected: verdict === "rejected" });
          }
          for (const { before: expected, undo } of steps.splice(0)) {
            await undo();
            expect(rows(), `seed ${seed}`).toEqual(expected);
          }
        }
      }
      await env.close();
    }
  });
});

/** Numbers from 0 to 1, the same for each seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}
