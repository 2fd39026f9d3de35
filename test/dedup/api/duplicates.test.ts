import type { DescMethod } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { createMatching } from "../../../src/dedup/documents/matching.ts";
import { duplicateHandlers } from "../../../src/dedup/api/duplicates.ts";
import {
  DuplicateService,
  GroupSort,
  SortOrder,
} from "../../../src/gen/steward/dedup/v1/duplicates_pb.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import { createCall, type Call, type UnaryHandler } from "../../../src/kernel/service.ts";
import type { Bench } from "../groups/bench.ts";
import { edited, openBench, prose } from "../groups/bench.ts";

const call: Call = createCall({ signal: new AbortController().signal, requestId: "test" });
const text = prose(1);

interface Api extends Bench {
  ask(method: DescMethod, request: object): Promise<any>;
}

/** Two groups: {1, 2, 3} with an edited copy, {4, 5} equal. */
async function open(): Promise<Api> {
  const bench = await openBench();
  await bench.put(1, text, { paperlessId: 7, correspondent: "Ada", tags: ["tax"] });
  await bench.put(2, edited(text, 30, "other"));
  await bench.put(3, text);
  await bench.put(4, prose(2));
  await bench.put(5, prose(2));
  await bench.put(6, prose(3));
  await bench.analyse();
  const service = duplicateHandlers({
    env: bench.env,
    documents: bench.documents,
    index: bench.index,
    clock: bench.clock,
    matching: createMatching(bench.documents.index),
  });
  return {
    ...bench,
    ask: async (method, request) =>
      await (service.handler(method) as UnaryHandler<any, any>)(
        create(method.input, request as never),
        call,
      ),
  };
}

const { listGroups, getGroup, deleteGroup, compareMembers, setGroupStatus, setGroupPrimary } =
  DuplicateService.method;

async function idOf(api: Api, members: number): Promise<string> {
  const { data } = await api.ask(listGroups, {});
  return data.find(({ memberCount }: { memberCount: number }) => memberCount === members).id;
}

describe("the list", () => {
  it("has the fields of the contract and leaves deleted groups out unless asked", async () => {
    const api = await open();
    const { data, meta } = await api.ask(listGroups, {});
    expect(meta).toEqual({ total: 2, totalMemberCount: 5, limit: 50, offset: 0 });
    expect(data[0]).toMatchObject({
      status: GroupStatus.PENDING,
      confidenceScore: 1,
      memberCount: 2,
      primaryDocumentTitle: "Title 4",
    });
    expect(data[1]).toMatchObject({
      memberCount: 3,
      primaryDocumentTitle: "Title 1",
      primaryPaperlessId: 7,
    });
    await api.ask(setGroupStatus, { id: data[0].id, status: GroupStatus.DELETED });
    expect((await api.ask(listGroups, {})).meta).toMatchObject({ total: 1, totalMemberCount: 3 });
    expect((await api.ask(listGroups, { status: [GroupStatus.DELETED] })).data).toMatchObject([
      { memberCount: 0, archivedMemberCount: 2, primaryDocumentTitle: "Title 4" },
    ]);
  });

  it.each<[object, number[]]>([
    [{}, [2, 3]],
    [{ sortOrder: SortOrder.ASC }, [3, 2]],
    [{ sortBy: GroupSort.MEMBER_COUNT }, [3, 2]],
    [{ sortBy: GroupSort.MEMBER_COUNT, sortOrder: SortOrder.ASC }, [2, 3]],
    [{ minConfidence: 1 }, [2]],
    [{ maxConfidence: 0.99 }, [3]],
    [{ minConfidence: 0.9, maxConfidence: 0.1 }, []],
    [{ limit: 1, offset: 1 }, [3]],
    [{ offset: 5 }, []],
    [{ status: [GroupStatus.PENDING, GroupStatus.IGNORED] }, [2, 3]],
    [{ status: [GroupStatus.IGNORED] }, []],
  ])("answers %j with groups of %j members", async (request, members) => {
    const api = await open();
    expect(
      (await api.ask(listGroups, request)).data.map(
        ({ memberCount }: { memberCount: number }) => memberCount,
      ),
    ).toEqual(members);
  });

  it("sorts by the time of creation, equal ones by id", async () => {
    const api = await open();
    await api.put(7, prose(3));
    await api.analyse();
    const groups = api
      .groups()
      .sort(
        (a, b) => a.decision.createdAtMs - b.decision.createdAtMs || (a.row.id < b.row.id ? -1 : 1),
      )
      .map(({ row }) => row.id);
    const ids = async (sortOrder: SortOrder): Promise<string[]> =>
      (await api.ask(listGroups, { sortBy: GroupSort.CREATED_AT, sortOrder })).data.map(
        ({ id }: { id: string }) => id,
      );
    expect(await ids(SortOrder.ASC)).toEqual(groups);
    expect(await ids(SortOrder.DESC)).toEqual([groups[2], groups[0], groups[1]]);
  });
});

describe("one group", () => {
  it("has its members, the primary first, its pairs and why they match", async () => {
    const api = await open();
    const id = await idOf(api, 3);
    const { data } = await api.ask(getGroup, { id });
    expect(data.members.map(({ documentId, isPrimary }: any) => [documentId, isPrimary])).toEqual([
      ["document-1", true],
      ["document-2", false],
      ["document-3", false],
    ]);
    expect(data.members[0]).toMatchObject({
      paperlessId: 7,
      correspondent: "Ada",
      tags: ["tax"],
      archive: "box",
      archiveRef: "1.txt",
      content: { fullText: text, wordCount: 60 },
    });
    expect(
      data.pairs.map(({ docA, docB, confidenceScore }: any) => [docA, docB, confidenceScore === 1]),
    ).toEqual([
      ["document-1", "document-2", false],
      ["document-1", "document-3", true],
      ["document-3", "document-2", false],
    ]);
    expect(data.reasons.length).toBeGreaterThan(1);
    expect(data.history).toEqual([]);
    const light = (await api.ask(getGroup, { id, light: true })).data;
    expect(light.members.map(({ memberId, content }: any) => [memberId, content])).toEqual(
      data.members.map(({ memberId }: any) => [memberId, { wordCount: 60 }]),
    );
    expect(new Set(light.members.map(({ memberId }: any) => memberId)).size).toBe(3);
  });

  it("compares members and names the parameter that is none", async () => {
    const api = await open();
    const id = await idOf(api, 3);
    expect(
      (await api.ask(compareMembers, { id, docA: "document-1", docB: "document-2" })).data,
    ).toEqual({
      docA: { fullText: text, wordCount: 60 },
      docB: { fullText: edited(text, 30, "other"), wordCount: 60 },
    });
    await expect(
      api.ask(compareMembers, { id, docA: "document-4", docB: "document-2" }),
    ).rejects.toMatchObject({ code: "invalid", field: "docA" });
    await expect(
      api.ask(compareMembers, { id, docA: "document-1", docB: "x".repeat(5_000) }),
    ).rejects.toMatchObject({ code: "invalid", field: "docB" });
    await expect(
      api.ask(compareMembers, { id: "none", docA: "document-1", docB: "document-2" }),
    ).rejects.toMatchObject({ code: "invalid", field: "docA" });
  });

  it("is not found under what is no id", async () => {
    const api = await open();
    for (const id of ["none", "", "a/b", "\0", "x".repeat(5_000)]) {
      await expect(api.ask(getGroup, { id })).rejects.toMatchObject({ code: "not_found" });
      await expect(api.ask(deleteGroup, { id })).rejects.toMatchObject({ code: "not_found" });
      await expect(
        api.ask(setGroupStatus, { id, status: GroupStatus.IGNORED }),
      ).rejects.toMatchObject({ code: "not_found" });
      await expect(
        api.ask(setGroupPrimary, { id, documentId: "document-1" }),
      ).rejects.toMatchObject({ code: "not_found" });
    }
  });

  it("is forgotten on request; its documents stay", async () => {
    const api = await open();
    const id = await idOf(api, 3);
    expect(await api.ask(deleteGroup, { id })).toEqual({ data: { deleted: true } });
    await expect(api.ask(getGroup, { id })).rejects.toMatchObject({ code: "not_found" });
    expect(api.documents.row(1)).toBeDefined();
    await api.analyse();
    expect(await idOf(api, 3)).not.toBe(id);
  });
});

describe("decisions", () => {
  const statuses = [
    GroupStatus.PENDING,
    GroupStatus.FALSE_POSITIVE,
    GroupStatus.IGNORED,
    GroupStatus.DELETED,
  ];

  it.each(statuses.flatMap((from) => statuses.map((to) => [from, to] as const)))(
    "lead from %i to %i",
    async (from, to) => {
      const api = await open();
      const id = await idOf(api, 3);
      await api.ask(setGroupStatus, { id, status: from });
      api.clock.advance(5);
      const { data } = await api.ask(setGroupStatus, { id, status: to });
      expect(data).toMatchObject({
        id,
        groupId: id,
        status: to,
        memberCount: to === GroupStatus.DELETED ? 0 : 3,
        primaryDocumentTitle: "Title 1",
      });
      expect(data.archivedMemberCount).toBe(to === GroupStatus.DELETED ? 3 : undefined);
      const { history } = (await api.ask(getGroup, { id, light: true })).data;
      expect(history.map(({ status }: any) => status)).toEqual(
        from === to || from === GroupStatus.PENDING ? [] : [from],
      );
    },
  );

  it("hide the members of a deleted group and restore them", async () => {
    const api = await open();
    const id = await idOf(api, 3);
    await api.ask(setGroupStatus, { id, status: GroupStatus.DELETED });
    expect((await api.ask(getGroup, { id })).data).toMatchObject({
      members: [],
      pairs: [],
      archivedMemberCount: 3,
      archivedPrimaryTitle: "Title 1",
    });
    await expect(
      api.ask(compareMembers, { id, docA: "document-1", docB: "document-2" }),
    ).rejects.toMatchObject({ code: "invalid" });
    await expect(api.ask(setGroupPrimary, { id, documentId: "document-2" })).rejects.toMatchObject({
      code: "not_found",
    });
    await api.ask(setGroupStatus, { id, status: GroupStatus.PENDING });
    expect((await api.ask(getGroup, { id })).data.members).toHaveLength(3);
  });

  it("do not bring back a group with fewer than two members", async () => {
    const api = await open();
    const id = await idOf(api, 2);
    await api.ask(setGroupStatus, { id, status: GroupStatus.DELETED });
    await api.remove(5);
    await expect(
      api.ask(setGroupStatus, { id, status: GroupStatus.IGNORED }),
    ).rejects.toMatchObject({ code: "conflict" });
    expect(
      (await api.ask(setGroupStatus, { id, status: GroupStatus.DELETED })).data.archivedMemberCount,
    ).toBe(2);
  });

  it("choose the primary among the members, and it stays over an analysis", async () => {
    const api = await open();
    const id = await idOf(api, 3);
    expect((await api.ask(setGroupPrimary, { id, documentId: "document-2" })).data).toMatchObject({
      groupId: id,
      documentId: "document-2",
      primaryDocumentTitle: "Title 2",
    });
    for (const documentId of ["document-4", "nobody", "x".repeat(5_000)])
      await expect(api.ask(setGroupPrimary, { id, documentId })).rejects.toMatchObject({
        code: "not_found",
      });
    await api.analyse({ force: true });
    expect((await api.ask(getGroup, { id, light: true })).data.members[0].documentId).toBe(
      "document-2",
    );
  });
});
