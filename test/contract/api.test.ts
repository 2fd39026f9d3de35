import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AnalysisService } from "../../src/gen/steward/dedup/v1/analysis_pb.ts";
import { DocumentService } from "../../src/gen/steward/dedup/v1/documents_pb.ts";
import { DuplicateService } from "../../src/gen/steward/dedup/v1/duplicates_pb.ts";
import { GroupStatus } from "../../src/gen/steward/dedup/v1/groups_pb.ts";
import { JobService, JobStatus } from "../../src/gen/steward/dedup/v1/jobs_pb.ts";
import { SyncService } from "../../src/gen/steward/dedup/v1/sync_pb.ts";
import { SystemService } from "../../src/gen/steward/dedup/v1/system_pb.ts";
import { folderConfig, smallArchive, writeFiles } from "./corpus.ts";
import {
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import { connectUnary, grpcStream, grpcUnary } from "./rpc.ts";

let daemon: Daemon;
let folder: string;
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ID = /^[A-Za-z0-9_-]{21}$/;

beforeAll(async () => {
  folder = temporaryFolder();
  writeFiles(folder, smallArchive);
  daemon = await startDaemon({ config: folderConfig(temporaryFolder(), folder) });
  const sync = await runJob(daemon, "/api/v1/sync");
  expect(sync.status).toBe("completed");
  await settle();
});

afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

/** Waits for the analysis that follows a sync by itself, or runs one. */
async function settle(): Promise<void> {
  const status = await rest(daemon, "GET", "/api/v1/analysis/status");
  const running = status.json.data.currentJobId as string | null;
  const job = running ? await jobEnd(daemon, running) : await runJob(daemon, "/api/v1/analysis");
  expect(job).toMatchObject({ status: "completed" });
}

async function theGroup(): Promise<any> {
  const list = await rest(
    daemon,
    "GET",
    "/api/v1/duplicates?status=pending,ignored,false_positive,deleted",
  );
  expect(list.json.data).toHaveLength(1);
  return list.json.data[0];
}

describe("health and readiness (contract 4.1)", () => {
  it("answer over REST without the demo's mark", async () => {
    const health = await rest(daemon, "GET", "/api/v1/health");
    expect(health.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(Object.keys(health.json.data)).toEqual(["status", "timestamp"]);
    expect(health.json.data).toEqual({
      status: "ok",
      timestamp: expect.stringMatching(ISO) as string,
    });
    const ready = await rest(daemon, "GET", "/api/v1/ready");
    expect(ready.json).toEqual({
      data: {
        status: "ready",
        checks: { database: { status: "ok" }, paperless: { status: "ok" } },
      },
    });
  });

  it("answer over Connect and gRPC alike", async () => {
    expect(
      (await connectUnary(daemon.url, SystemService.method.getHealth, {})).message?.data?.status,
    ).toBe("ok");
    expect((await grpcUnary(daemon.host, SystemService.method.getReadiness, {})).data?.status).toBe(
      "ready",
    );
  });

  it("echo a request id and send the security headers", async () => {
    const answer = await rest(daemon, "GET", "/api/v1/health", undefined, {
      "x-request-id": "abc.1_2-3",
    });
    expect(answer.headers.get("x-request-id")).toBe("abc.1_2-3");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const other = await rest(daemon, "GET", "/api/v1/health", undefined, {
      "x-request-id": "no spaces allowed",
    });
    expect(other.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe("sync and analysis (contract 4.2)", () => {
  it("report the last run", async () => {
    const sync = await rest(daemon, "GET", "/api/v1/sync/status");
    expect(sync.json.data).toEqual({
      lastSyncAt: expect.stringMatching(ISO) as string,
      lastSyncDocumentCount: expect.any(Number) as number,
      totalDocuments: 7,
      isSyncing: false,
      currentJobId: null,
    });
    const analysis = await rest(daemon, "GET", "/api/v1/analysis/status");
    expect(analysis.json.data).toEqual({
      lastAnalysisAt: expect.stringMatching(ISO) as string,
      totalDuplicateGroups: 1,
      isAnalyzing: false,
      currentJobId: null,
      analysisStale: false,
      warnings: [],
    });
    expect(
      (await grpcUnary(daemon.host, SyncService.method.getSyncStatus, {})).data?.totalDocuments,
    ).toBe(7);
    expect(
      (await connectUnary(daemon.url, AnalysisService.method.getAnalysisStatus, {})).message?.data
        ?.totalDuplicateGroups,
    ).toBe(1);
  });

  it("accept an empty body, an empty object and options; refuse what is not JSON, of another type or unknown", async () => {
    for (const body of [undefined, "", "{}", { force: true }])
      expect((await runJob(daemon, "/api/v1/sync", body)).status).toBe("completed");
    await settle();
    for (const [body, path] of [
      ["{", []],
      [{ force: "yes" }, ["force"]],
      [{ forse: true }, ["forse"]],
      ["[]", []],
      ["1", []],
    ] as const) {
      const answer = await rest(daemon, "POST", "/api/v1/sync", body);
      expect([answer.status, answer.json.error.code]).toEqual([400, "VALIDATION_FAILED"]);
      if (path.length) expect(answer.json.error.details[0].path).toEqual(path);
    }
    expect(
      (await rest(daemon, "POST", "/api/v1/sync", { forse: true })).json.error.message,
    ).toMatch(/forse[\s\S]*force/);
    const connect = await fetch(`${daemon.url}/steward.dedup.v1.SyncService/StartSync`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"forse":true}',
    });
    expect([connect.status, ((await connect.json()) as { readonly code: string }).code]).toEqual([
      400,
      "invalid_argument",
    ]);
  });

  it("see a changed, a new and a removed file in the next sync, and only those", async () => {
    writeFileSync(
      join(folder, "notes/new.txt"),
      `${smallArchive["notes/short.txt"]} But this one has been grown with enough further words to be looked at by the analysis, which asks for twenty.`,
    );
    writeFileSync(join(folder, "notes/short.txt"), "Still too short, yet changed.");
    const job = await runJob(daemon, "/api/v1/sync");
    expect(job.result).toMatchObject({ inserted: 1, updated: 1, failed: 0, reconciled: 0 });
    await settle();
    rmSync(join(folder, "notes/new.txt"));
    writeFileSync(join(folder, "notes/short.txt"), smallArchive["notes/short.txt"] ?? "");
    const after = await runJob(daemon, "/api/v1/sync");
    expect(after.result).toMatchObject({ inserted: 0, updated: 1, reconciled: 1 });
    await settle();
    expect((await rest(daemon, "GET", "/api/v1/documents")).json.meta.total).toBe(7);
  });
});

describe("jobs (contract 2.2, 4.3)", () => {
  it("have the contract's fields and ours, newest first", async () => {
    const list = (await rest(daemon, "GET", "/api/v1/jobs")).json;
    expect(Object.keys(list)).toEqual(["data"]);
    expect(Object.keys(list.data[0])).toEqual([
      "id",
      "type",
      "status",
      "progress",
      "progressMessage",
      "startedAt",
      "completedAt",
      "createdAt",
      "errorMessage",
      "resultJson",
      "phaseProgress",
      "operation",
      "result",
    ]);
    const job = list.data.at(-1);
    expect(job).toMatchObject({
      id: expect.stringMatching(ID) as string,
      type: "sync",
      status: "completed",
      progress: 1,
      createdAt: expect.stringMatching(ISO) as string,
      errorMessage: null,
      operation: null,
    });
    expect(JSON.parse(job.resultJson)).toEqual(job.result);
    expect(job.result).toMatchObject({ inserted: 7, updated: 0, errors: [] });
    const times = list.data.map((item: any) => item.createdAt);
    expect(times).toEqual(times.toSorted((a: string, b: string) => (a < b ? 1 : -1)));
    const one = await rest(daemon, "GET", `/api/v1/jobs/${job.id}`);
    expect(one.json.data).toEqual(job);
    expect(
      (await grpcUnary(daemon.host, JobService.method.getJob, { jobId: job.id })).data?.status,
    ).toBe(JobStatus.COMPLETED);
  });

  it("are filtered by type, status and limit; anything else is named", async () => {
    const only = (await rest(daemon, "GET", "/api/v1/jobs?type=analysis&limit=1&nothing=1")).json
      .data;
    expect(only).toHaveLength(1);
    expect(only[0].type).toBe("analysis");
    expect((await rest(daemon, "GET", "/api/v1/jobs?status=failed")).json.data).toEqual([]);
    for (const [query, field] of [
      ["limit=0", "limit"],
      ["limit=201", "limit"],
      ["limit=ten", "limit"],
      ["limit=1.5", "limit"],
      ["type=nothing", "type"],
      ["status=paused", "status"],
    ]) {
      const answer = await rest(daemon, "GET", `/api/v1/jobs?${query}`);
      expect([
        query,
        answer.status,
        answer.json.error.code,
        answer.json.error.details[0].path,
      ]).toEqual([query, 400, "VALIDATION_FAILED", [field]]);
      expect(answer.json.error.message).toContain(field);
    }
    await expect(
      grpcUnary(daemon.host, JobService.method.listJobs, { limit: 201 }),
    ).rejects.toMatchObject({ code: 3 });
  });

  it("are watched as an event stream and as a server stream", async () => {
    const job = (await rest(daemon, "GET", "/api/v1/jobs?type=analysis")).json.data[0];
    const stream = await fetch(`${daemon.url}/api/v1/jobs/${job.id}/progress`);
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    const frames = (await stream.text()).split("\n\n").filter(Boolean);
    expect(frames).toHaveLength(1);
    const [event, data] = (frames[0] ?? "").split("\n");
    expect(event).toBe("event: complete");
    expect(JSON.parse((data ?? "").slice("data: ".length))).toMatchObject({
      progress: 1,
      status: "completed",
      message: expect.any(String) as string,
      groupsCreated: expect.any(Number) as number,
    });
    const messages = await grpcStream(daemon.host, JobService.method.watchJob, { jobId: job.id });
    expect(messages.map((message) => message.event)).toEqual(["complete"]);
  });

  it("are not found by an unknown id, whatever its form", async () => {
    for (const path of ["/api/v1/jobs/nothing", "/api/v1/jobs/nothing/progress"]) {
      const answer = await rest(daemon, "GET", path);
      expect([answer.status, answer.json.error.code]).toEqual([404, "NOT_FOUND"]);
    }
    expect((await rest(daemon, "POST", "/api/v1/jobs/nothing/cancel")).status).toBe(404);
    await expect(
      grpcUnary(daemon.host, JobService.method.getJob, { jobId: "nothing" }),
    ).rejects.toMatchObject({ code: 5 });
  });

  it("can't be cancelled once they have ended", async () => {
    const job = (await rest(daemon, "GET", "/api/v1/jobs")).json.data[0];
    const answer = await rest(daemon, "POST", `/api/v1/jobs/${job.id}/cancel`);
    expect([answer.status, answer.json.error.code]).toEqual([409, "CONFLICT"]);
    await expect(
      grpcUnary(daemon.host, JobService.method.cancelJob, { jobId: job.id }),
    ).rejects.toMatchObject({ code: 9 });
  });
});

describe("documents (contract 4.5)", () => {
  it("are listed with their fields, filtered and paged", async () => {
    const list = (await rest(daemon, "GET", "/api/v1/documents")).json;
    expect(list.meta).toEqual({ total: 7, limit: 50, offset: 0 });
    expect(Object.keys(list.data[0])).toEqual([
      "id",
      "paperlessId",
      "title",
      "correspondent",
      "documentType",
      "tags",
      "createdDate",
      "addedDate",
      "processingStatus",
      "archive",
      "archiveRef",
      "truncated",
      "firstSeenAt",
    ]);
    expect(list.data[0]).toMatchObject({
      id: expect.stringMatching(ID) as string,
      paperlessId: null,
      tags: [],
      processingStatus: "completed",
      archive: "papers",
    });
    const pages = await Promise.all(
      [0, 3, 6].map(
        async (offset) =>
          (await rest(daemon, "GET", `/api/v1/documents?limit=3&offset=${offset}`)).json.data,
      ),
    );
    expect(pages.flat()).toEqual(list.data);
    const found = (await rest(daemon, "GET", "/api/v1/documents?search=BEEkeeping")).json;
    expect(found.data.map((item: any) => item.archiveRef)).toEqual(["notes/lone.html"]);
    expect(
      (await rest(daemon, "GET", "/api/v1/documents?processingStatus=pending")).json.data,
    ).toEqual([]);
    expect(
      (await rest(daemon, "GET", "/api/v1/documents?correspondent=nobody")).json.meta.total,
    ).toBe(0);
    for (const query of ["limit=101", "limit=0", "offset=-1", "processingStatus=x"])
      expect((await rest(daemon, "GET", `/api/v1/documents?${query}`)).json.error.code).toBe(
        "VALIDATION_FAILED",
      );
    expect(
      (await connectUnary(daemon.url, DocumentService.method.listDocuments, { limit: 2 })).message
        ?.data,
    ).toHaveLength(2);
  });

  it("are read whole, with content and memberships", async () => {
    const list = (await rest(daemon, "GET", "/api/v1/documents?search=fence")).json.data;
    const item = list.find((one: any) => one.archiveRef === "minutes/fence-copy.txt");
    const { data } = (await rest(daemon, "GET", `/api/v1/documents/${item.id}`)).json;
    expect(Object.keys(data)).toEqual([
      "id",
      "paperlessId",
      "title",
      "correspondent",
      "documentType",
      "tags",
      "createdDate",
      "addedDate",
      "processingStatus",
      "archive",
      "archiveRef",
      "modifiedDate",
      "fingerprint",
      "syncedAt",
      "content",
      "groupMemberships",
      "truncated",
      "firstSeenAt",
      "pageCount",
    ]);
    expect(data.content).toMatchObject({
      fullText: smallArchive["minutes/fence-copy.txt"],
      wordCount: 29,
      contentHash: expect.stringMatching(/^2ef6c78ca586/) as string,
    });
    expect(data.content.normalizedText).toBe(smallArchive["minutes/fence.txt"]?.toLowerCase());
    expect(data.groupMemberships).toEqual([
      {
        groupId: (await theGroup()).id,
        confidenceScore: expect.any(Number) as number,
        isPrimary: expect.any(Boolean) as boolean,
        status: "pending",
      },
    ]);
    expect((await rest(daemon, "GET", `/api/v1/documents/${item.id}/content`)).json).toEqual({
      data: { fullText: data.content.fullText, wordCount: 29 },
    });
    expect(
      (await grpcUnary(daemon.host, DocumentService.method.getDocumentContent, { id: item.id }))
        .data?.wordCount,
    ).toBe(29);
  });

  it("are not found by an unknown id", async () => {
    for (const path of ["/api/v1/documents/nothing", "/api/v1/documents/nothing/content"])
      expect((await rest(daemon, "GET", path)).json.error.code).toBe("NOT_FOUND");
  });
});

describe("duplicates (contract 4.6)", () => {
  it("are the group that was planted, with exact scores", async () => {
    const list = (await rest(daemon, "GET", "/api/v1/duplicates")).json;
    expect(list.meta).toEqual({ total: 1, totalMemberCount: 3, limit: 50, offset: 0 });
    const group = list.data[0];
    expect(Object.keys(group)).toEqual([
      "id",
      "status",
      "confidenceScore",
      "jaccardSimilarity",
      "fuzzyTextRatio",
      "discriminativeScore",
      "memberCount",
      "archivedMemberCount",
      "primaryDocumentTitle",
      "primaryPaperlessId",
      "createdAt",
      "updatedAt",
      "accepted",
    ]);
    expect(group).toMatchObject({
      status: "pending",
      memberCount: 3,
      archivedMemberCount: null,
      primaryPaperlessId: null,
    });
    expect(group.confidenceScore).toBeCloseTo((1 + 2 * 0.8525714285714285) / 3, 12);
    const { data } = (await rest(daemon, "GET", `/api/v1/duplicates/${group.id}`)).json;
    expect(data.members.map((member: any) => member.archiveRef).sort()).toEqual([
      "minutes/fence-copy.txt",
      "minutes/fence-white.md",
      "minutes/fence.txt",
    ]);
    expect(data.members[0].isPrimary).toBe(true);
    expect(
      data.members.every(
        (member: any) => member.content.wordCount === 29 && member.content.fullText.length > 100,
      ),
    ).toBe(true);
    expect(data.pairs).toHaveLength(3);
    expect(data.pairs.map((pair: any) => pair.confidenceScore).sort()).toEqual([
      0.8525714285714285, 0.8525714285714285, 1,
    ]);
    expect(data.reasons.length).toBeGreaterThan(0);
    const light = (await rest(daemon, "GET", `/api/v1/duplicates/${group.id}?light=true`)).json
      .data;
    expect(light.members.map((member: any) => member.content.fullText)).toEqual([null, null, null]);
    expect(
      (await grpcUnary(daemon.host, DuplicateService.method.getGroup, { id: group.id })).data
        ?.members,
    ).toHaveLength(3);
    expect(
      (await connectUnary(daemon.url, DuplicateService.method.listGroups, {})).message?.meta?.total,
    ).toBe(1);
  });

  it("are filtered and sorted by everything the contract names", async () => {
    const total = async (query: string): Promise<number> =>
      (await rest(daemon, "GET", `/api/v1/duplicates?${query}`)).json.meta.total as number;
    expect(await total("minConfidence=0.9")).toBe(1);
    expect(await total("minConfidence=0.95")).toBe(0);
    expect(await total("maxConfidence=0.5")).toBe(0);
    expect(await total("minConfidence=0.9&maxConfidence=0.1")).toBe(0);
    expect(await total("status=ignored")).toBe(0);
    expect(await total("status=ignored,pending")).toBe(1);
    for (const sortBy of ["confidence", "created_at", "member_count"])
      for (const sortOrder of ["asc", "desc"])
        expect(await total(`sortBy=${sortBy}&sortOrder=${sortOrder}`)).toBe(1);
    for (const query of [
      "limit=101",
      "offset=-1",
      "minConfidence=2",
      "maxConfidence=-1",
      "minConfidence=x",
      "status=done",
      "status=pending,done",
      `status=${"pending,".repeat(16)}ignored`,
      "sortBy=title",
      "sortOrder=up",
    ]) {
      const answer = await rest(daemon, "GET", `/api/v1/duplicates?${query}`);
      expect([query, answer.json.error?.code]).toEqual([query, "VALIDATION_FAILED"]);
    }
  });

  it("compare two members and refuse anybody else", async () => {
    const group = await theGroup();
    const { data } = (await rest(daemon, "GET", `/api/v1/duplicates/${group.id}`)).json;
    const [a, b] = data.members;
    const both = await rest(
      daemon,
      "GET",
      `/api/v1/duplicates/${group.id}/content?docA=${a.documentId}&docB=${b.documentId}`,
    );
    expect(both.json.data).toEqual({
      docA: { fullText: a.content.fullText, wordCount: 29 },
      docB: { fullText: b.content.fullText, wordCount: 29 },
    });
    for (const query of ["", `docA=${a.documentId}`, `docA=${a.documentId}&docB=nobody`])
      expect(
        (await rest(daemon, "GET", `/api/v1/duplicates/${group.id}/content?${query}`)).json.error
          .code,
      ).toBe("VALIDATION_FAILED");
  });

  it("take every status from every status, and keep it over another analysis", async () => {
    const { id } = await theGroup();
    const statuses = ["pending", "false_positive", "ignored", "deleted"];
    for (const from of statuses) {
      for (const to of statuses) {
        await rest(daemon, "PUT", `/api/v1/duplicates/${id}/status`, { status: from });
        const answer = await rest(daemon, "PUT", `/api/v1/duplicates/${id}/status`, { status: to });
        expect([
          from,
          to,
          answer.status,
          answer.json.data?.status,
          answer.json.data?.groupId,
        ]).toEqual([from, to, 200, to, id]);
      }
    }
    const deleted = (await rest(daemon, "GET", "/api/v1/duplicates?status=deleted")).json.data[0];
    expect(deleted).toMatchObject({ id, memberCount: 0, archivedMemberCount: 3 });
    expect((await rest(daemon, "GET", "/api/v1/duplicates")).json.data).toEqual([]);
    await rest(daemon, "PUT", `/api/v1/duplicates/${id}/status`, { status: "ignored" });
    expect((await runJob(daemon, "/api/v1/analysis", { force: true })).status).toBe("completed");
    expect(await theGroup()).toMatchObject({ id, status: "ignored", memberCount: 3 });
    const viaGrpc = await grpcUnary(daemon.host, DuplicateService.method.setGroupStatus, {
      id,
      status: GroupStatus.PENDING,
    });
    expect(viaGrpc.data?.status).toBe(GroupStatus.PENDING);
    for (const body of [
      { status: "done" },
      { status: 1 },
      {},
      "nonsense",
      { status: "pending", more: 1 },
    ]) {
      const answer = await rest(daemon, "PUT", `/api/v1/duplicates/${id}/status`, body);
      expect([answer.status, answer.json.error.code]).toEqual([400, "VALIDATION_FAILED"]);
    }
    expect(
      (await rest(daemon, "PUT", "/api/v1/duplicates/nothing/status", { status: "pending" })).json
        .error.code,
    ).toBe("NOT_FOUND");
  });

  it("keep the chosen primary over another analysis", async () => {
    const group = await theGroup();
    const { data } = (await rest(daemon, "GET", `/api/v1/duplicates/${group.id}`)).json;
    const chosen = data.members[2];
    const answer = await rest(daemon, "PUT", `/api/v1/duplicates/${group.id}/primary`, {
      documentId: chosen.documentId,
    });
    expect(answer.json.data).toMatchObject({
      groupId: group.id,
      documentId: chosen.documentId,
      primaryDocumentTitle: chosen.title,
    });
    await runJob(daemon, "/api/v1/analysis", { force: true });
    expect(
      (await rest(daemon, "GET", `/api/v1/duplicates/${group.id}`)).json.data.members[0].documentId,
    ).toBe(chosen.documentId);
    expect(
      (
        await rest(daemon, "PUT", `/api/v1/duplicates/${group.id}/primary`, {
          documentId: "nobody",
        })
      ).json.error.code,
    ).toBe("NOT_FOUND");
    expect(
      (await rest(daemon, "PUT", `/api/v1/duplicates/${group.id}/primary`, { documentId: "" })).json
        .error.code,
    ).toBe("VALIDATION_FAILED");
    expect(
      (
        await rest(daemon, "PUT", "/api/v1/duplicates/nothing/primary", {
          documentId: chosen.documentId,
        })
      ).json.error.code,
    ).toBe("NOT_FOUND");
  });

  it("do not come back once they were called false positives", async () => {
    const group = await theGroup();
    await rest(daemon, "PUT", `/api/v1/duplicates/${group.id}/status`, {
      status: "false_positive",
    });
    await runJob(daemon, "/api/v1/analysis", { force: true });
    expect(await theGroup()).toMatchObject({
      id: group.id,
      status: "false_positive",
      memberCount: 3,
    });
    await rest(daemon, "PUT", `/api/v1/duplicates/${group.id}/status`, { status: "pending" });
  });

  it("are forgotten on DELETE, documents untouched, and found anew by the next analysis", async () => {
    const group = await theGroup();
    expect((await rest(daemon, "DELETE", `/api/v1/duplicates/${group.id}`)).json).toEqual({
      data: { deleted: true },
    });
    expect((await rest(daemon, "GET", `/api/v1/duplicates/${group.id}`)).status).toBe(404);
    expect((await rest(daemon, "DELETE", `/api/v1/duplicates/${group.id}`)).json.error.code).toBe(
      "NOT_FOUND",
    );
    expect((await rest(daemon, "GET", "/api/v1/documents")).json.meta.total).toBe(7);
    await runJob(daemon, "/api/v1/analysis", { force: true });
    expect((await theGroup()).memberCount).toBe(3);
  });
});

describe("what is not there (RESOLUTIONS §4)", () => {
  it("answers in the style of its prefix", async () => {
    expect((await rest(daemon, "GET", "/api/v1/nothing")).json).toEqual({
      error: { code: "NOT_FOUND", message: expect.any(String) as string },
    });
    const text = await rest(daemon, "GET", "/nothing");
    expect([text.status, text.text.trim(), text.headers.get("content-type")]).toEqual([
      404,
      "404 page not found",
      "text/plain; charset=utf-8",
    ]);
    const method = await rest(daemon, "PATCH", "/api/v1/sync");
    expect([method.status, method.json.error.code, method.headers.get("allow")]).toEqual([
      405,
      "METHOD_NOT_ALLOWED",
      "POST",
    ]);
    expect((await rest(daemon, "GET", "/api/v1/documents/")).status).toBe(404);
    const metrics = await rest(daemon, "GET", "/metrics");
    expect([metrics.status, metrics.headers.get("content-type")]).toEqual([
      404,
      "text/plain; charset=utf-8",
    ]);
    expect(metrics.text).toMatch(
      /\/api\/v1\/metrics of gateway\.listen.* \/metrics of scrape\.listen/,
    );
  });

  it("refuses a body over the limit, a foreign host and a cross-site post", async () => {
    const large = await rest(
      daemon,
      "POST",
      "/api/v1/sync",
      `{"force":${" ".repeat(5 * 1024 * 1024)}true}`,
    );
    expect([large.status, large.json.error.code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
    const crossSite = await rest(daemon, "POST", "/api/v1/sync", "{}", {
      "sec-fetch-site": "cross-site",
    });
    expect([crossSite.status, crossSite.json.error.code]).toEqual([401, "UNAUTHORIZED"]);
    const origin = await rest(daemon, "POST", "/api/v1/sync", "{}", {
      origin: "https://elsewhere.example",
    });
    expect(origin.status).toBe(401);
  });
});
