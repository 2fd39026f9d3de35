/** The proxy of Paperless-ngx, merging, and decided pairs, on the running daemon. */
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Paperless } from "../../src/demo/paperless/paperless.ts";
import { ArchiveService } from "../../src/gen/steward/dedup/v1/archive_pb.ts";
import { BatchService } from "../../src/gen/steward/dedup/v1/batch_pb.ts";
import { GroupStatus } from "../../src/gen/steward/dedup/v1/groups_pb.ts";
import { MergeService } from "../../src/gen/steward/dedup/v1/merge_pb.ts";
import { PairService } from "../../src/gen/steward/dedup/v1/pairs_pb.ts";
import {
  type Daemon,
  jobEnd,
  removeTemporaryFolders,
  rest,
  runJob,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";
import {
  configOf,
  fillGroups,
  groupsOf,
  startArchive,
  syncAndAnalyse,
  trashed,
} from "./paperless-estate.ts";

afterAll(removeTemporaryFolders);

let sim: Paperless;
let daemon: Daemon;
let token: string;

beforeAll(async () => {
  sim = await startArchive(fillGroups(6, 3));
  token = sim.estate.users[0]?.token.use((value) => value) ?? "";
  daemon = await startDaemon({ config: configOf(sim, temporaryFolder()) });
  await syncAndAnalyse(daemon);
});
afterAll(async () => {
  await daemon.stop();
  await sim.stop();
});

const file = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${daemon.url}/api/v1/paperless/documents/${path}`, { headers });

describe("files of documents", () => {
  it.each([
    ["1/preview", "application/pdf"],
    ["1/thumb", "image/webp"],
  ])("GET %s passes the file on, and nothing that names the document", async (path, type) => {
    // A browser's own Accept would be refused by the archive.
    const answer = await file(path, { accept: "image/avif,image/webp,*/*;q=0.8" });
    expect(answer.status).toBe(200);
    expect(answer.headers.get("content-type")).toBe(type);
    expect(answer.headers.get("content-disposition")).toBe("inline");
    expect(answer.headers.get("cache-control")).toBe("private, max-age=3600");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("content-security-policy")).toMatch(/default-src 'none'/);
    const direct = await fetch(`${sim.url}/api/documents/${path}/`, {
      headers: { authorization: `Token ${token}` },
    });
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(
      Buffer.from(await direct.arrayBuffer()),
    );
    expect(JSON.stringify([...answer.headers])).not.toMatch(/Paper 0|Token|etag/);
  });

  it.each([
    ["abc/preview", 400, "BAD_REQUEST"],
    ["0/thumb", 400, "BAD_REQUEST"],
    ["99999999999/thumb", 400, "BAD_REQUEST"],
    ["4711/preview", 404, "NOT_FOUND"],
    ["1/preview?archive=nowhere", 404, "NOT_FOUND"],
  ])("GET %s answers %i %s", async (path, status, code) => {
    const answer = await file(path);
    expect([answer.status, (await answer.json()).error.code]).toEqual([status, code]);
  });

  it.each([
    { kind: "html", status: 200 },
    { kind: "html", status: 502 },
    { kind: "html", status: 404 },
    { kind: "status", status: 401 },
    { kind: "status", status: 403 },
    { kind: "redirect", location: "/accounts/login/" },
    { kind: "reset" },
  ] as const)("answers BAD_GATEWAY after %o, with no credential in it", async (fault) => {
    for (const kind of ["preview", "thumb"] as const) {
      sim.faults.next(kind, fault);
      const answer = await file(`1/${kind}`);
      const text = await answer.text();
      expect([answer.status, JSON.parse(text).error.code]).toEqual([502, "BAD_GATEWAY"]);
      expect(text).not.toContain(token);
    }
  });

  it("shows no page as a file of our origin, whatever it calls itself", async () => {
    for (const type of ["image/svg+xml", "application/xml", "text/css"]) {
      const row = sim.estate.documents.get(4);
      Object.assign(row as object, { mimeType: type });
      const answer = await file("4/preview");
      expect(answer.headers.get("content-type")).toBe("application/octet-stream");
      expect(answer.headers.get("content-disposition")).toBe("attachment");
      await answer.arrayBuffer();
    }
    Object.assign(sim.estate.documents.get(4) as object, { mimeType: "text/html" });
    expect((await file("4/preview")).status).toBe(502);
    Object.assign(sim.estate.documents.get(4) as object, { mimeType: "application/pdf" });
  });

  it("answers many HEADs, without a length, and leaves the archive to those who read", async () => {
    // More than a client of the archive has places.
    for (let round = 0; round < 40; round += 1) {
      const answer = await fetch(`${daemon.url}/api/v1/paperless/documents/1/preview`, {
        method: "HEAD",
      });
      expect([round, answer.status, answer.headers.get("content-type")]).toEqual([
        round,
        200,
        "application/pdf",
      ]);
      expect(answer.headers.get("content-length")).toBe(null);
    }
    expect((await (await file("1/preview")).arrayBuffer()).byteLength).toBeGreaterThan(0);
    for (const path of ["duplicates.csv", "delete-plan.json"]) {
      const answer = await fetch(`${daemon.url}/api/v1/export/${path}`, { method: "HEAD" });
      expect([answer.status, answer.headers.get("content-length")]).toEqual([200, null]);
    }
  });

  it("cuts the connection when the archive's answer breaks off", async () => {
    sim.faults.next("preview", { kind: "truncate" });
    const answer = await file("1/preview").catch(() => undefined);
    if (answer?.status === 200) await expect(answer.arrayBuffer()).rejects.toThrow();
    else expect(answer?.status).toBe(502);
  });

  it("asks the archive anew for each of many requests", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => file("2/thumb")));
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }
  });
});

describe("the trash", () => {
  it("is counted, and emptied on request only", async () => {
    sim.estate.trash(18);
    const path = "/api/v1/paperless/trash";
    expect((await rest(daemon, "GET", path)).json.data).toEqual({ count: 1 });
    for (const body of [{}, { action: "restore" }, { action: 1 }]) {
      const answer = await rest(daemon, "POST", path, body);
      expect([answer.status, answer.json.error.code]).toEqual([400, "VALIDATION_FAILED"]);
    }
    sim.faults.next("trash_action", { kind: "status", status: 403 });
    const refused = await rest(daemon, "POST", path, { action: "empty" });
    expect([refused.status, refused.json.error.code]).toEqual([502, "BAD_GATEWAY"]);
    expect(trashed(sim)).toEqual([18]);
    const emptied = await rest(daemon, "POST", path, { action: "empty" });
    expect(emptied.json.data).toEqual({ emptied: true, deleted: 1 });
    expect(trashed(sim)).toEqual([]);
  });
});

describe.each(["Connect", "gRPC"])("over %s", (protocol) => {
  const transport = (): ReturnType<typeof createGrpcTransport> =>
    protocol === "gRPC"
      ? createGrpcTransport({ baseUrl: daemon.url })
      : createConnectTransport({ baseUrl: daemon.url, httpVersion: "1.1" });

  it("streams a file, counts the trash, changes statuses and merges", async () => {
    const archive = createClient(ArchiveService, transport());
    const chunks: Uint8Array[] = [];
    const types: (string | undefined)[] = [];
    for await (const { contentType, chunk } of archive.streamPreview({ paperlessId: 1 })) {
      types.push(contentType);
      chunks.push(chunk);
    }
    expect(types[0]).toBe("application/pdf");
    expect(Buffer.concat(chunks).subarray(0, 5).toString()).toBe("%PDF-");
    for await (const { contentType } of archive.streamThumbnail({ paperlessId: 1 }))
      expect(contentType).toBe("image/webp");
    expect((await archive.getTrash({})).data?.count).toBeGreaterThanOrEqual(0);
    const missing = archive.streamPreview({ paperlessId: 4711 });
    await expect(missing[Symbol.asyncIterator]().next()).rejects.toThrow(/not_found/);

    const [group] = await groupsOf(daemon);
    const groupIds = [group?.id ?? ""];
    const batch = createClient(BatchService, transport());
    const set = await batch.setGroupStatuses({ groupIds, status: GroupStatus.IGNORED });
    expect(set.data?.updated).toBe(1);
    await batch.setGroupStatuses({ groupIds, status: GroupStatus.PENDING });
    await expect(batch.deleteNonPrimary({ groupIds, confirm: false })).rejects.toThrow(/confirm/);
    expect((await batch.purgeDeleted({})).data?.purged).toBe(0);
    const merge = createClient(MergeService, transport());
    expect((await merge.mergeGroup({ id: groupIds[0] ?? "" })).data?.merged).toBe(false);
    const pairs = createClient(PairService, transport());
    expect((await pairs.listPairs({})).meta?.total).toBe(0);
  });
});

describe("POST /api/v1/duplicates/{id}/merge", () => {
  it("shows what it would change, changes it on request, and has nothing to do afterwards", async () => {
    const [, group] = await groupsOf(daemon);
    const [primary = 0, one = 0, other = 0] = group?.members ?? [];
    sim.estate.edit(primary, { tags: [1], documentType: 1 });
    sim.estate.edit(one, { tags: [1, 2], correspondent: 1, created: "2018-01-02" });
    const type = sim.estate.addReference("document_types", { name: "Letter" }).id;
    sim.estate.edit(other, {
      documentType: type,
      notes: [{ id: 9, note: "filed", createdUs: 1, user: 2 }],
    });
    const path = `/api/v1/duplicates/${group?.id}/merge`;
    const shown = (await rest(daemon, "POST", path, {})).json.data;
    expect(shown).toMatchObject({ groupId: group?.id, paperlessId: primary, merged: false });
    expect(shown.changes.map(({ field, before, after }: any) => [field, before, after])).toEqual([
      ["tags", ["inbox"], ["inbox", "tax"]],
      ["correspondent", [], ["Northwind"]],
      ["created", [expect.stringMatching(/^2024-/)], ["2018-01-02"]],
      ["notes", [], ["filed"]],
    ]);
    expect(shown.kept).toMatchObject([
      { field: "document_type", before: ["Invoice"], after: ["Letter"] },
    ]);
    expect(shown.changes[0].documentIds).toHaveLength(1);
    expect(sim.estate.documents.get(primary)?.tags).toEqual([1]);

    const some = await rest(daemon, "POST", path, { dryRun: false, fields: ["tags", "notes"] });
    expect(some.json.data).toMatchObject({ merged: true });
    expect(sim.estate.documents.get(primary)).toMatchObject({ tags: [1, 2], correspondent: null });
    await rest(daemon, "POST", path, { dryRun: false });
    const merged = sim.estate.documents.get(primary);
    expect(merged).toMatchObject({ correspondent: 1, created: "2018-01-02", documentType: 1 });
    expect(merged?.notes.length).toBe(1);
    const writes = sim.requests()["patch_document"];
    const again = (await rest(daemon, "POST", path, { dryRun: false })).json.data;
    expect(again.changes).toEqual([]);
    expect(sim.requests()["patch_document"]).toBe(writes);
  });

  it("refuses unknown groups and fields, and passes on that the archive fails", async () => {
    expect((await rest(daemon, "POST", "/api/v1/duplicates/nobody/merge", {})).status).toBe(404);
    const [group] = await groupsOf(daemon);
    const path = `/api/v1/duplicates/${group?.id}/merge`;
    expect((await rest(daemon, "POST", path, { fields: ["title"] })).status).toBe(400);
    sim.faults.next("document", { kind: "status", status: 401 });
    const answer = await rest(daemon, "POST", path, {});
    expect([answer.status, answer.json.error.code]).toEqual([502, "BAD_GATEWAY"]);
    expect(answer.text).not.toContain(token);
  });
});

function pairOf(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`;
}

describe("pairs that are no duplicates", () => {
  it("are remembered per pair, listed, restored one by one, and found again", async () => {
    const group = (await groupsOf(daemon)).at(-2);
    const path = `/api/v1/duplicates/${group?.id}`;
    const ids = (await rest(daemon, "GET", path)).json.data.members.map(
      ({ documentId }: any) => documentId as string,
    ) as [string, string, string];
    const [a, b, c] = ids;
    const list = async (query = ""): Promise<any> =>
      (await rest(daemon, "GET", `/api/v1/pairs?decision=not_duplicate${query}`)).json;
    await rest(daemon, "PUT", `${path}/status`, { status: "false_positive" });
    const all = await list();
    expect(all.meta).toEqual({ total: 3, limit: 50, offset: 0 });
    expect(all.data[0]).toMatchObject({
      decision: "not_duplicate",
      groupId: group?.id,
      titleA: expect.stringMatching(/^Paper/) as string,
    });
    const names = (rows: any[]): string[] =>
      rows.map(({ docA, docB }) => pairOf(docA as string, docB as string));
    expect(new Set(names(all.data))).toEqual(new Set([pairOf(a, b), pairOf(a, c), pairOf(b, c)]));
    expect(names((await list("&limit=1&offset=2")).data)).toEqual([names(all.data)[2]]);

    const pair = (await rest(daemon, "GET", `/api/v1/pairs/${a}/${b}`)).json.data;
    expect(pair).toMatchObject({ decision: "not_duplicate", confidenceScore: 1 });
    const restored = await rest(daemon, "DELETE", `/api/v1/pairs/${b}/${a}`);
    expect(restored.json.data).toEqual({ restored: true, pendingGroupIds: [] });
    expect((await list()).meta.total).toBe(2);
    expect((await rest(daemon, "GET", `/api/v1/pairs/${a}/${b}`)).json.data.decision).toBeNull();
    expect((await rest(daemon, "DELETE", `/api/v1/pairs/${a}/${b}`)).status).toBe(404);

    // The two are found again; the third stays apart from both.
    await runJob(daemon, "/api/v1/analysis", {});
    const found = (await rest(daemon, "GET", "/api/v1/duplicates?limit=100&status=pending")).json
      .data;
    const members = [];
    for (const { id } of found)
      members.push(
        (await rest(daemon, "GET", `/api/v1/duplicates/${id}?light=true`)).json.data.members.map(
          ({ documentId }: any) => documentId as string,
        ),
      );
    expect(members.filter((one) => one.includes(a)).map((one) => new Set(one))).toEqual([
      new Set([a, b]),
    ]);
    expect(members.filter((one) => one.includes(c))).toEqual([]);

    await rest(daemon, "DELETE", `/api/v1/pairs/${a}/${c}`);
    const last = await rest(daemon, "DELETE", `/api/v1/pairs/${b}/${c}`);
    expect(last.json.data).toEqual({ restored: true, pendingGroupIds: [group?.id] });
    expect((await rest(daemon, "GET", path)).json.data.status).toBe("pending");
    expect((await list()).meta.total).toBe(0);

    await rest(daemon, "PUT", `${path}/status`, { status: "false_positive" });
    expect((await list()).meta.total).toBe(3);
    await rest(daemon, "PUT", `${path}/status`, { status: "pending" });
    expect((await list()).meta.total).toBe(0);
  });

  it("refuses a pair that cannot be one", async () => {
    const [id] = (await rest(daemon, "GET", "/api/v1/documents?limit=1")).json.data.map(
      (row: any) => row.id as string,
    );
    expect((await rest(daemon, "DELETE", `/api/v1/pairs/${id}/${id}`)).status).toBe(400);
    expect((await rest(daemon, "DELETE", `/api/v1/pairs/${id}/nobody`)).status).toBe(404);
    expect((await rest(daemon, "GET", "/api/v1/pairs?decision=maybe")).status).toBe(400);
    expect((await rest(daemon, "GET", "/api/v1/pairs?limit=101")).status).toBe(400);
  });
});

it("a deletion is refused while one runs", async () => {
  const groups = await groupsOf(daemon);
  sim.faults.next("delete_document", { kind: "delay", ms: 3_000 });
  const body = { groupIds: [groups[0]?.id], confirm: true };
  const started = await rest(daemon, "POST", "/api/v1/batch/delete-non-primary", body);
  const again = await rest(daemon, "POST", "/api/v1/batch/delete-non-primary", {
    ...body,
    groupIds: [groups[2]?.id],
  });
  expect([again.status, again.json.error.code]).toEqual([409, "JOB_ALREADY_RUNNING"]);
  expect(again.json.error.message).toContain(started.json.data.jobId);
  expect((await jobEnd(daemon, started.json.data.jobId as string)).status).toBe("completed");
});
