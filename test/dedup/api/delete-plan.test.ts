/** Accepting groups and the delete plan, through the handlers over a store with documents. */
import type { DescMethod } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { createMatching } from "../../../src/dedup/documents/matching.ts";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import { deletePlanHandlers } from "../../../src/dedup/api/delete-plan.ts";
import { duplicateHandlers } from "../../../src/dedup/api/duplicates.ts";
import { openGroupIndex } from "../../../src/dedup/groups/store.ts";
import { documents } from "../../../src/dedup/tables.ts";
import { DeletePlanService } from "../../../src/gen/steward/dedup/v1/delete_plan_pb.ts";
import { DuplicateService, PlanFilter } from "../../../src/gen/steward/dedup/v1/duplicates_pb.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import { DocumentRowSchema } from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import { createCall, type UnaryHandler } from "../../../src/kernel/service.ts";
import type { Bench } from "../groups/bench.ts";
import { edited, openBench, prose } from "../groups/bench.ts";

const call = createCall({ signal: new AbortController().signal, requestId: "test" });
const text = prose(1);
const { getDeletePlan, acceptGroups, withdrawGroups, acceptExactCopies } = DeletePlanService.method;
const { listGroups, getGroup, setGroupStatus, setGroupPrimary } = DuplicateService.method;

interface Api extends Bench {
  ask(method: DescMethod, request: object): Promise<any>;
}

function serve(bench: Bench): Api {
  const { env, index, clock, pool } = bench;
  const matching = createMatching(bench.documents.index);
  const deps = { env, index, clock, pool, documents: bench.documents, matching };
  const services = [
    duplicateHandlers(deps),
    deletePlanHandlers({ ...deps, parameters: () => defaultParameters }),
  ];
  return {
    ...bench,
    ask: async (method, request) => {
      const service = services.find(({ desc }) => desc.typeName === method.parent.typeName);
      const handler = service?.handler(method) as UnaryHandler<any, any>;
      return await handler(create(method.input, request as never), call);
    },
  };
}

/** Two groups: {1, 2, 3} with an edited copy, {4, 5} equal. */
async function open(): Promise<Api> {
  const bench = await openBench();
  await bench.put(1, text);
  await bench.put(2, edited(text, 30, "other"));
  await bench.put(3, text);
  await bench.put(4, prose(2));
  await bench.put(5, prose(2));
  await bench.analyse();
  return serve(bench);
}

async function idOf(api: Api, members: number): Promise<string> {
  const { data } = await api.ask(listGroups, {});
  return data.find(({ memberCount }: { memberCount: number }) => memberCount === members).id;
}

async function planOf(api: Api): Promise<Record<string, string>> {
  const { data } = await api.ask(getDeletePlan, {});
  return Object.fromEntries(
    data.groups.flatMap(({ primary, documents: others }: any) => [
      [primary.title, "stays"],
      ...others.map(({ document, deleted, reason }: any) => [
        document.title,
        deleted ? "deleted" : reason,
      ]),
    ]),
  );
}

describe("accepting a group", () => {
  it("puts it into the plan, leaves it pending, and shows it in lists", async () => {
    const api = await open();
    const id = await idOf(api, 3);
    expect(await api.ask(acceptGroups, { groupIds: [id] })).toEqual({ data: { groupIds: [id] } });
    const { data } = await api.ask(listGroups, { plan: PlanFilter.IN });
    expect(data).toMatchObject([{ id, status: GroupStatus.PENDING, accepted: true }]);
    expect((await api.ask(listGroups, { plan: PlanFilter.OUT })).data).toMatchObject([
      { memberCount: 2, accepted: false },
    ]);
    expect((await api.ask(getGroup, { id })).data).toMatchObject({ accepted: true });
    expect(await planOf(api)).toEqual({
      "Title 1": "stays",
      "Title 2": "deleted",
      "Title 3": "deleted",
    });
    expect((await api.ask(getDeletePlan, {})).meta).toEqual({
      total: 1,
      limit: 50,
      offset: 0,
      deletedCount: 2,
      primaryCount: 1,
      leftOutCount: 0,
    });
  });

  it("holds over a restart and an analysis, and ends when it is withdrawn", async () => {
    const api = await open();
    const id = await idOf(api, 3);
    await api.ask(acceptGroups, { groupIds: [id] });
    await api.analyse({ force: true });
    const { signal } = new AbortController();
    const again = serve({ ...api, index: await openGroupIndex(api.env, { signal }) });
    expect((await again.ask(listGroups, { plan: PlanFilter.IN })).data).toMatchObject([{ id }]);
    expect(await again.ask(withdrawGroups, { groupIds: [id, id] })).toEqual({
      data: { groupIds: [id] },
    });
    expect(await planOf(again)).toEqual({});
    expect((await again.ask(getGroup, { id })).data).toMatchObject({
      status: GroupStatus.PENDING,
      accepted: false,
      history: [],
    });
  });

  it("ends with another status, and does not come back with the former one", async () => {
    const api = await open();
    const id = await idOf(api, 2);
    for (const status of [GroupStatus.IGNORED, GroupStatus.FALSE_POSITIVE, GroupStatus.DELETED]) {
      expect((await api.ask(acceptGroups, { groupIds: [id] })).data.groupIds).toEqual([id]);
      await api.ask(setGroupStatus, { id, status });
      expect([status, await planOf(api)]).toEqual([status, {}]);
      // A group that is decided otherwise is not accepted by the way.
      expect((await api.ask(acceptGroups, { groupIds: [id] })).data.groupIds).toEqual([]);
      await api.ask(setGroupStatus, { id, status: GroupStatus.PENDING });
      expect([status, await planOf(api)]).toEqual([status, {}]);
    }
  });

  it("ends with a new member, which nobody has seen, and holds without one that is gone", async () => {
    const api = await open();
    const id = await idOf(api, 3);
    await api.ask(acceptGroups, { groupIds: [id] });
    await api.put(6, edited(text, 31, "another"));
    await api.analyse();
    expect((await api.ask(getGroup, { id })).data.members.length).toBe(4);
    expect(await planOf(api)).toEqual({});
    await api.ask(acceptGroups, { groupIds: [id] });
    await api.remove(6);
    expect(await planOf(api)).toEqual({
      "Title 1": "stays",
      "Title 2": "deleted",
      "Title 3": "deleted",
    });
  });

  it("remembers the document that was to stay, until another one is chosen", async () => {
    const api = await open();
    const id = await idOf(api, 2);
    await api.ask(acceptGroups, { groupIds: [id] });
    expect(await planOf(api)).toEqual({ "Title 4": "stays", "Title 5": "deleted" });
    // The other one gets metadata, so that the analysis would rather keep that.
    await api.put(5, prose(2), { correspondent: "Northwind", tags: ["water"] });
    await api.analyse({ force: true });
    expect(await planOf(api)).toEqual({ "Title 4": "stays", "Title 5": "deleted" });
    const stays = async (): Promise<string> =>
      (await api.ask(getGroup, { id })).data.members.find(
        ({ isPrimary }: { isPrimary: boolean }) => isPrimary,
      ).title;
    expect(await stays()).toBe("Title 4");
    await api.ask(withdrawGroups, { groupIds: [id] });
    expect(await stays()).toBe("Title 5");
    await api.ask(acceptGroups, { groupIds: [id] });
    expect(await planOf(api)).toEqual({ "Title 4": "deleted", "Title 5": "stays" });
    await api.ask(setGroupPrimary, { id, documentId: "document-4" });
    expect(await planOf(api)).toEqual({ "Title 4": "stays", "Title 5": "deleted" });
  });

  it("skips what is unknown and what is in the plan already", async () => {
    const api = await open();
    const id = await idOf(api, 2);
    await api.ask(acceptGroups, { groupIds: [id] });
    expect(
      (await api.ask(acceptGroups, { groupIds: ["nowhere", "", "\0", id] })).data.groupIds,
    ).toEqual([]);
    expect((await api.ask(withdrawGroups, { groupIds: ["nowhere"] })).data.groupIds).toEqual([]);
  });

  it("of all exact copies takes groups of one whole text only", async () => {
    const api = await open();
    const id = await idOf(api, 2);
    expect(await api.ask(acceptExactCopies, {})).toEqual({ data: { groupIds: [id], more: false } });
    expect(await api.ask(acceptExactCopies, {})).toEqual({ data: { groupIds: [], more: false } });
    await api.ask(withdrawGroups, { groupIds: [id] });
    await change(api, 5, { truncated: true });
    expect((await api.ask(acceptExactCopies, {})).data.groupIds).toEqual([]);
  });
});

describe("accepting all exact copies", () => {
  it("leaves out a group of which a text changes before it is accepted", async () => {
    const api = await open();
    let changes = 0;
    const write: typeof api.env.write = async (work) => {
      if (changes++ === 0) await api.put(5, `${prose(2)} and more`);
      return await api.env.write(work);
    };
    const env = {
      read: api.env.read.bind(api.env),
      scan: api.env.scan.bind(api.env),
      write,
    } as typeof api.env;
    const changing = serve({ ...api, env });
    expect(await changing.ask(acceptExactCopies, {})).toEqual({
      data: { groupIds: [], more: false },
    });
    expect(changes).toBe(1);
    expect(await planOf(api)).toEqual({});
  });
});

async function change(api: Api, docNo: number, fields: object): Promise<void> {
  const row = api.documents.row(docNo);
  await api.env.write((tx) =>
    tx.put(documents, docNo, create(DocumentRowSchema, { ...row, ...fields } as never)),
  );
}

describe("the plan", () => {
  it("leaves out a text that was cut, and all documents of a primary that was", async () => {
    const api = await open();
    await api.ask(acceptGroups, { groupIds: [await idOf(api, 3)] });
    await change(api, 2, { truncated: true });
    expect(await planOf(api)).toMatchObject({
      "Title 2": "was compared by the beginning of its text only",
      "Title 3": "deleted",
    });
    await change(api, 1, { truncated: true });
    expect(await planOf(api)).toMatchObject({
      "Title 1": "stays",
      "Title 3": "has a primary that was compared by the beginning of its text only",
    });
  });

  it("leaves out a text that changed after the group was accepted", async () => {
    const api = await open();
    await api.ask(acceptGroups, { groupIds: [await idOf(api, 3)] });
    await api.put(3, `${text} and more`);
    expect(await planOf(api)).toMatchObject({
      "Title 2": "deleted",
      "Title 3": "has another text than when its group was accepted",
    });
  });

  it("takes a text that changed once its group is accepted again", async () => {
    const api = await open();
    const id = await idOf(api, 3);
    const accept = async (): Promise<string[]> =>
      (await api.ask(acceptGroups, { groupIds: [id] })).data.groupIds;
    await accept();
    await api.put(3, edited(text, 40, "new"));
    await api.analyse();
    expect(await planOf(api)).toEqual({
      "Title 1": "stays",
      "Title 2": "deleted",
      "Title 3": "has another text than when its group was accepted",
    });
    expect(await accept()).toEqual([id]);
    expect(await planOf(api)).toEqual({
      "Title 1": "stays",
      "Title 2": "deleted",
      "Title 3": "deleted",
    });
    expect(await accept()).toEqual([]);
  });

  it("leaves out a text that was not analysed yet, though its group is accepted with it", async () => {
    const api = await open();
    const id = await idOf(api, 3);
    await api.ask(acceptGroups, { groupIds: [id] });
    await api.put(3, prose(9));
    await api.ask(acceptGroups, { groupIds: [id] });
    expect(await planOf(api)).toMatchObject({
      "Title 2": "deleted",
      "Title 3": "has a text that was not analysed yet",
    });
    await api.put(1, prose(8));
    await api.ask(acceptGroups, { groupIds: [id] });
    expect(await planOf(api)).toMatchObject({
      "Title 2": "has a primary that has a text that was not analysed yet",
    });
  });

  it("scores the pairs with a chosen primary that is not the centre of its group", async () => {
    const api = await openDrifting();
    const { data } = await api.ask(getGroup, { id: await firstGroup(api) });
    const chosen = data.members.at(-1).documentId;
    await api.ask(setGroupPrimary, { id: data.id, documentId: chosen });
    await api.ask(acceptGroups, { groupIds: [data.id] });
    const { data: plan, meta } = await api.ask(getDeletePlan, {});
    const [group] = plan.groups;
    expect(group.primary.documentId).toBe(chosen);
    for (const { deleted, reason, confidenceScore } of group.documents)
      if (deleted) expect(confidenceScore).toBeGreaterThanOrEqual(0.75);
      else expect(reason).toBe("has no verified pair with the document that stays");
    // The far end of the chain is no duplicate of what was chosen.
    expect([meta.deletedCount > 0, meta.leftOutCount > 0]).toEqual([true, true]);
    expect(meta.deletedCount + meta.leftOutCount).toBe(group.documents.length);
  });

  it("keeps what another group keeps: its primary, a chosen primary, and all of an ignored one", async () => {
    const api = await openDrifting();
    const { data: list } = await api.ask(listGroups, { limit: 100 });
    expect(list.length).toBeGreaterThan(1);
    const ids: string[] = list.map(({ id }: { id: string }) => id);
    await api.ask(acceptGroups, { groupIds: ids });
    const all = (await api.ask(getDeletePlan, {})).data.groups;
    const primaries = new Set(all.map(({ primary }: any) => primary.documentId));
    const gone = new Set(
      all.flatMap(({ documents: others }: any) =>
        others.flatMap(({ deleted, document }: any) => (deleted ? [document.documentId] : [])),
      ),
    );
    expect(gone.size).toBeGreaterThan(0);
    expect([...gone].filter((id) => primaries.has(id))).toEqual([]);
    // Ignoring one group keeps each of its documents, whatever the others say.
    const ignored = (await api.ask(getGroup, { id: ids[0] })).data;
    await api.ask(setGroupStatus, { id: ids[0], status: GroupStatus.IGNORED });
    const rest = (await api.ask(getDeletePlan, {})).data.groups.flatMap(
      ({ documents: others }: any) =>
        others.flatMap(({ deleted, document }: any) => (deleted ? [document.documentId] : [])),
    );
    for (const { documentId } of ignored.members) expect(rest).not.toContain(documentId);
  });

  it("is read in pages with the totals of all of it", async () => {
    const api = await open();
    await api.ask(acceptGroups, { groupIds: [await idOf(api, 2), await idOf(api, 3)] });
    const page = await api.ask(getDeletePlan, { limit: 1, offset: 1 });
    expect([page.data.groups.length, page.meta]).toEqual([
      1,
      { total: 2, limit: 1, offset: 1, deletedCount: 3, primaryCount: 2, leftOutCount: 0 },
    ]);
  });
});

describe("the list of groups", () => {
  it("is searched by the titles of all members", async () => {
    const api = await open();
    const search = async (words: string): Promise<number[]> =>
      (await api.ask(listGroups, { search: words })).data.map(
        ({ memberCount }: { memberCount: number }) => memberCount,
      );
    expect([await search("title 3"), await search("Title"), await search("none")]).toEqual([
      [3],
      [2, 3],
      [],
    ]);
  });
});

/** A chain in which each document is an edit of the one before, so that groups overlap. */
async function openDrifting(): Promise<Api> {
  const bench = await openBench();
  const words = prose(3).split(" ");
  for (let at = 0; at < 40; at++) {
    const from = Math.floor(words.length * 0.8 * (at / 40));
    const drifted = words.map((word, index) => (index >= from ? word : `${word}${index}x`));
    await bench.put(at + 1, drifted.join(" "));
  }
  await bench.analyse();
  return serve(bench);
}

async function firstGroup(api: Api): Promise<string> {
  const { data } = await api.ask(listGroups, { limit: 100 });
  return data.toSorted((a: any, b: any) => b.memberCount - a.memberCount)[0].id;
}
