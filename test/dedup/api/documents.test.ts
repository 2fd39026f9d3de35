import { zstdCompressSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { documentHandlers } from "../../../src/dedup/api/documents.ts";
import { syncHandlers } from "../../../src/dedup/api/sync.ts";
import type { Archive } from "../../../src/dedup/archives/archive.ts";
import { setMetaNumber } from "../../../src/dedup/meta.ts";
import type { SyncInput, SyncResult } from "../../../src/dedup/sync/result.ts";
import {
  DocumentService,
  ProcessingStatus,
} from "../../../src/gen/steward/dedup/v1/documents_pb.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import { SyncService } from "../../../src/gen/steward/dedup/v1/sync_pb.ts";
import { DocumentRowSchema } from "../../../src/gen/steward/state/v1/dedup_pb.ts";
import type { Job, JobType, Jobs } from "../../../src/kernel/jobs/types.ts";
import { openBench } from "../store-bench.ts";
import type { StoreBench } from "../store-bench.ts";
import { ask } from "./calling.ts";

async function filled(): Promise<
  StoreBench & { readonly service: ReturnType<typeof documentHandlers> }
> {
  const bench = await openBench(["notes"]);
  const contentHash = new Uint8Array(32).fill(0xab);
  await bench.store.putTexts([{ docNo: 1, contentHash, zstd: zstdCompressSync("Some  Text") }]);
  await bench.env.write((tx) => {
    bench.store.put(
      tx,
      create(DocumentRowSchema, {
        docNo: 1,
        id: "first",
        archive: "notes",
        archiveRef: "a.txt",
        title: "Alpha",
        correspondent: "Bank",
        tags: ["tax"],
        createdDate: "2025-01-01",
        modifiedDate: "m",
        fingerprint: new Uint8Array(32).fill(1),
        contentHash,
        wordCount: 2,
        syncedAtMs: 1_500,
        pending: true,
      }),
    );
    bench.store.put(
      tx,
      create(DocumentRowSchema, {
        docNo: 2,
        id: "second",
        archive: "notes",
        archiveRef: "b.txt",
        title: "Beta",
        tags: [],
      }),
    );
  });
  const memberships = (
    docNo: number,
  ): { groupId: string; confidenceScore: number; isPrimary: boolean; status: GroupStatus }[] =>
    docNo === 1
      ? [{ groupId: "g", confidenceScore: 0.9, isPrimary: true, status: GroupStatus.PENDING }]
      : [];
  return {
    ...bench,
    service: documentHandlers({
      store: bench.store,
      memberships,
      hasAiResult: (docNo) => docNo === 2,
      minWords: () => 20,
      unreadable: () => [],
    }),
  };
}

describe("documents over the API", () => {
  it("without an AI result are listed alone on request", async () => {
    const { service } = await filled();
    const list = await ask(service, DocumentService.method.listDocuments, { noAiResult: true });
    expect(list.data.map(({ id }) => id)).toEqual(["first"]);
    expect(list.meta?.total).toBe(1);
  });

  it("are listed with page and total", async () => {
    const { service } = await filled();
    const list = await ask(service, DocumentService.method.listDocuments, {});
    expect(list.meta).toMatchObject({ total: 2, limit: 50, offset: 0 });
    expect(list.data).toMatchObject([
      {
        id: "first",
        title: "Alpha",
        correspondent: "Bank",
        tags: ["tax"],
        createdDate: "2025-01-01",
        processingStatus: ProcessingStatus.PENDING,
        archive: "notes",
        archiveRef: "a.txt",
      },
      { id: "second", title: "Beta", tags: [], processingStatus: ProcessingStatus.COMPLETED },
    ]);
    expect(list.data[0]?.paperlessId).toBeUndefined();
    const page = await ask(service, DocumentService.method.listDocuments, {
      limit: 1,
      offset: 1,
    });
    expect([
      page.data.map(({ id }) => id),
      page.meta?.total,
      page.meta?.limit,
      page.meta?.offset,
    ]).toEqual([["second"], 2, 1, 1]);
  });

  it("are filtered by what the contract names", async () => {
    const { service } = await filled();
    for (const [filter, ids] of [
      [{ search: "ALP" }, ["first"]],
      [{ correspondent: "Bank" }, ["first"]],
      [{ documentType: "Bill" }, []],
      [{ tag: "TA" }, ["first"]],
      [{ processingStatus: ProcessingStatus.COMPLETED }, ["second"]],
    ] as const)
      expect(
        (await ask(service, DocumentService.method.listDocuments, filter)).data.map(({ id }) => id),
      ).toEqual(ids);
  });

  it("are read whole, with content and memberships, or without content", async () => {
    const { service } = await filled();
    expect(
      (await ask(service, DocumentService.method.getDocument, { id: "first" })).data,
    ).toMatchObject({
      id: "first",
      modifiedDate: "m",
      fingerprint: "01".repeat(32),
      syncedAt: { seconds: 1n, nanos: 500_000_000 },
      content: {
        fullText: "Some  Text",
        normalizedText: "some text",
        wordCount: 2,
        contentHash: "ab".repeat(32),
      },
      groupMemberships: [
        { groupId: "g", confidenceScore: 0.9, isPrimary: true, status: GroupStatus.PENDING },
      ],
    });
    const { data } = await ask(service, DocumentService.method.getDocument, { id: "second" });
    expect([data?.content, data?.groupMemberships]).toEqual([undefined, []]);
    expect(
      (await ask(service, DocumentService.method.getDocumentContent, { id: "first" })).data,
    ).toMatchObject({ fullText: "Some  Text", wordCount: 2 });
  });

  it("are not found by an unknown id, and content is not found where there is none", async () => {
    const { service } = await filled();
    for (const id of ["", "nothing", "x".repeat(5_000)])
      await expect(ask(service, DocumentService.method.getDocument, { id })).rejects.toMatchObject({
        code: "not_found",
      });
    await expect(
      ask(service, DocumentService.method.getDocumentContent, { id: "second" }),
    ).rejects.toMatchObject({ code: "not_found", message: "document second has no text" });
  });
});

describe("syncs over the API", () => {
  const archive = { name: "notes" } as Archive;
  const job = { exclusive: "sync" } as JobType<SyncInput, SyncResult>;

  it("start with what was asked for, and not without an archive", async () => {
    const bench = await openBench();
    const started: unknown[] = [];
    const jobs = {
      start: (_: unknown, input: unknown) => (
        started.push(input),
        Promise.resolve({ id: "job-1" } as Job)
      ),
      active: () => undefined,
    } as unknown as Jobs;
    const service = syncHandlers({ ...bench, jobs, job, archives: () => [archive] });
    expect((await ask(service, SyncService.method.startSync, { force: true })).data?.jobId).toBe(
      "job-1",
    );
    expect(started).toEqual([{ force: true, purge: false }]);
    await expect(
      ask(
        syncHandlers({ ...bench, jobs, job, archives: () => [] }),
        SyncService.method.startSync,
        {},
      ),
    ).rejects.toMatchObject({
      code: "conflict",
      remedy: expect.stringContaining("dedup.archives") as string,
    });
  });

  it("tell the last and the present one", async () => {
    const bench = await openBench();
    const jobs = { active: () => undefined as Job | undefined };
    const service = syncHandlers({
      ...bench,
      jobs: jobs as unknown as Jobs,
      job,
      archives: () => [archive],
    });
    const first = (await ask(service, SyncService.method.getSyncStatus, {})).data;
    expect([
      first?.lastSyncAt,
      first?.lastSyncDocumentCount,
      first?.totalDocuments,
      first?.isSyncing,
      first?.currentJobId,
    ]).toEqual([undefined, undefined, 0, false, undefined]);
    await bench.env.write((tx) => {
      setMetaNumber(tx, "lastSyncAtMs", 5_000);
      setMetaNumber(tx, "lastSyncCount", 0);
    });
    jobs.active = () => ({ id: "job-2" }) as Job;
    expect((await ask(service, SyncService.method.getSyncStatus, {})).data).toMatchObject({
      lastSyncAt: { seconds: 5n },
      lastSyncDocumentCount: 0,
      isSyncing: true,
      currentJobId: "job-2",
    });
  });
});
