/** What is new since a time, and what is left out of the search for duplicates and why. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Paperless } from "../../src/demo/paperless/paperless.ts";
import { DocumentService, SkipReason } from "../../src/gen/steward/dedup/v1/documents_pb.ts";
import { DuplicateService } from "../../src/gen/steward/dedup/v1/duplicates_pb.ts";
import {
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { configOf, startArchive, syncAndAnalyse, textOf } from "./paperless-estate.ts";
import { connectUnary, grpcUnary } from "./rpc.ts";

let sim: Paperless;
let daemon: Daemon;
let before: string;

beforeAll(async () => {
  sim = await startArchive((estate) => {
    // Two copies of one text, of which the second has more pages.
    estate.add({ title: "A", content: textOf(1), created: "2024-01-01", pageCount: 2 });
    estate.add({ title: "A again", content: textOf(1), created: "2024-01-02", pageCount: 3 });
    estate.add({ title: "Scan", content: "", pageCount: null });
    estate.add({ title: "Receipt", content: "only four short words" });
    estate.add({ title: "Long", content: "word ".repeat(1_200_000) });
  });
  const folder = temporaryFolder();
  const files = join(folder, "files");
  mkdirSync(files);
  writeFileSync(join(files, "short.txt"), "two words");
  writeFileSync(join(files, "empty.txt"), "");
  writeFileSync(join(files, "broken.pdf"), "%PDF-1.7 and nothing else");
  writeFileSync(join(files, "good.txt"), textOf(5));
  const lines = join(folder, "lines.jsonl");
  writeFileSync(lines, `{"id": "a", "text": "three short words"}\n{not json\n`);
  const archives = `    - {name: files, kind: folder, path: ${files}}
    - {name: lines, kind: jsonl, path: ${lines}}
`;
  daemon = await startDaemon({ config: configOf(sim, temporaryFolder(), archives) });
  await syncAndAnalyse(daemon);
  before = (await dashboard()).lastSyncAt;
});
afterAll(async () => {
  await daemon.stop();
  await sim.stop();
  removeTemporaryFolders();
});

async function get(path: string): Promise<any> {
  return (await rest(daemon, "GET", `/api/v1${path}`)).json;
}

async function dashboard(): Promise<any> {
  return (await get("/dashboard")).data;
}

describe("documents that are left out", () => {
  const of = (entries: any[]): string[] =>
    entries
      .map(({ archive, archiveRef, reason }) => `${archive}/${archiveRef} ${reason}`)
      .toSorted();

  it("are listed with their reason, for every kind of archive", async () => {
    const { data, meta } = await get("/documents/skipped");
    expect(of(data)).toEqual(
      [
        "papers/3 no_text",
        "papers/4 too_short",
        "papers/5 cut",
        "files/short.txt too_short",
        "files/empty.txt no_text",
        "files/broken.pdf unreadable",
        "lines/a too_short",
        "lines/line 2 unreadable",
      ].toSorted(),
    );
    expect(meta).toEqual({ total: 8, limit: 50, offset: 0 });
    const short = data.find((one: any) => one.archiveRef === "4");
    expect(short).toMatchObject({
      paperlessId: 4,
      title: "Receipt",
      wordCount: 4,
      documentId: expect.stringMatching(/^[\w-]{21}$/) as string,
      detail: "has 4 words, fewer than minWords (20), which PUT /api/v1/config/dedup changes",
    });
    const broken = data.find((one: any) => one.archiveRef === "broken.pdf");
    expect(broken).toMatchObject({ documentId: null, title: null });
    expect(broken.detail).not.toContain("/tmp");
    expect((await dashboard()).skippedDocuments).toBe(8);
  });

  it("are paged over both kinds of entries", async () => {
    const { data } = await get("/documents/skipped");
    const pages = [];
    for (let offset = 0; offset < 9; offset += 3)
      pages.push(...(await get(`/documents/skipped?limit=3&offset=${offset}`)).data);
    expect(pages).toEqual(data);
    expect((await get("/documents/skipped?offset=100")).data).toEqual([]);
  });

  it.each([
    ["reason=no_text", ["files/empty.txt no_text", "papers/3 no_text"]],
    ["reason=cut", ["papers/5 cut"]],
    ["reason=unreadable", ["files/broken.pdf unreadable", "lines/line 2 unreadable"]],
    ["archive=lines", ["lines/a too_short", "lines/line 2 unreadable"]],
    ["archive=lines&reason=too_short", ["lines/a too_short"]],
    ["archive=unknown", []],
  ])("are filtered by %s", async (query, expected) => {
    const { data, meta } = await get(`/documents/skipped?${query}`);
    expect(of(data)).toEqual(expected);
    expect(meta.total).toBe(expected.length);
  });

  it("follow the settings: fewer words may be enough", async () => {
    await rest(daemon, "PUT", "/api/v1/config/dedup", { minWords: 3 });
    const { data } = await get("/documents/skipped?reason=too_short");
    expect(of(data)).toEqual(["files/short.txt too_short"]);
    await rest(daemon, "PUT", "/api/v1/config/dedup", { minWords: 20 });
  });

  it.each(["limit=0", "limit=101", "offset=-1", "reason=ugly"])("%s is refused", async (query) => {
    const { error } = await get(`/documents/skipped?${query}`);
    expect(error.code).toBe("VALIDATION_FAILED");
    expect(error.details[0].path).toEqual([query.split("=")[0]]);
  });

  it("are the same over Connect and gRPC", async () => {
    const method = DocumentService.method.listSkippedDocuments;
    const init = { reason: SkipReason.CUT };
    const expected = [
      expect.objectContaining({ archiveRef: "5", reason: SkipReason.CUT }) as object,
    ];
    expect((await connectUnary(daemon.url, method, init)).message?.data).toEqual(expected);
    expect((await grpcUnary(daemon.host, method, init)).data).toEqual(expected);
    expect((await connectUnary(daemon.url, method, { limit: 101 })).error?.code).toBe(
      "invalid_argument",
    );
  });
});

describe("what arrived since a time", () => {
  it("is everything at first, and only what is new after the next sync", async () => {
    expect(await dashboard()).toMatchObject({ arrivedDocuments: 9, arrivedGroups: 1 });
    const { id } = sim.estate.add({ title: "A copy of files/good", content: textOf(5) });
    sim.estate.edit(1, { title: "A, renamed" });
    await syncAndAnalyse(daemon);
    const { lastSyncAt, ...now } = await dashboard();
    expect(now).toMatchObject({ arrivedDocuments: 1, arrivedGroups: 1 });
    const documents = await get(`/documents?since=${lastSyncAt}`);
    expect(documents.meta.total).toBe(1);
    expect(documents.data[0]).toMatchObject({ paperlessId: id, firstSeenAt: lastSyncAt });
    const groups = await get(`/duplicates?since=${lastSyncAt}`);
    expect(groups.meta.total).toBe(1);
    const group = (await get(`/duplicates/${groups.data[0].id}?light=true`)).data;
    expect(group.members.map((one: any) => one.paperlessId)).toEqual(
      expect.arrayContaining([id, null]),
    );
    // Of the first sync all, of the future nothing.
    expect((await get(`/documents?since=${before}`)).meta.total).toBe(10);
    expect((await get(`/duplicates?since=${before}`)).meta.total).toBe(2);
    for (const path of ["/documents", "/duplicates"])
      expect((await get(`${path}?since=2200-01-01T00:00:00Z`)).meta.total).toBe(0);
    const csv = await rest(daemon, "GET", `/api/v1/export/duplicates.csv?since=${lastSyncAt}`);
    expect(csv.text.trim().split("\r\n")).toHaveLength(3);
    const search = await get(`/documents?since=${before}&search=renamed`);
    expect(search.data[0]).toMatchObject({ paperlessId: 1, firstSeenAt: before });
  });

  it("shows a known group again that a new document joins", async () => {
    const { id } = sim.estate.add({ title: "A third time", content: textOf(1), pageCount: 1 });
    await syncAndAnalyse(daemon);
    const { lastSyncAt } = await dashboard();
    const { data } = await get(`/duplicates?since=${lastSyncAt}`);
    expect(data).toHaveLength(1);
    expect(Date.parse(data[0].createdAt)).toBeLessThan(Date.parse(lastSyncAt));
    const group = (await get(`/duplicates/${data[0].id}?light=true`)).data;
    expect(group.members.map((one: any) => one.paperlessId)).toContain(id);
  });

  it.each(["yesterday", "2026-13-01", "17", "2026-01-31"])(
    "since=%s is refused by REST",
    async (since) => {
      for (const path of ["/documents", "/duplicates"]) {
        const { error } = await get(`${path}?since=${since}`);
        expect([path, error.code, error.details[0].path]).toEqual([
          path,
          "VALIDATION_FAILED",
          ["since"],
        ]);
      }
    },
  );

  it("is the same over Connect and gRPC", async () => {
    const since = timestampFromDate(new Date(before));
    const { listDocuments } = DocumentService.method;
    const { listGroups } = DuplicateService.method;
    expect((await connectUnary(daemon.url, listDocuments, { since })).message?.meta?.total).toBe(
      11,
    );
    expect((await grpcUnary(daemon.host, listDocuments, { since })).meta?.total).toBe(11);
    expect((await connectUnary(daemon.url, listGroups, { since })).message?.meta?.total).toBe(2);
    expect((await grpcUnary(daemon.host, listGroups, { since })).meta?.total).toBe(2);
  });
});

it("the copy with the most pages is suggested to stay, and the reason says so", async () => {
  const groups = await get("/duplicates?search=renamed");
  const { members, reasons } = (await get(`/duplicates/${groups.data[0].id}?light=true`)).data;
  expect(members.find((one: any) => one.isPrimary)).toMatchObject({ paperlessId: 2 });
  expect(reasons.join("; ")).toContain("most pages, 3");
  const detail = (await get(`/documents/${members[0].documentId}`)).data;
  expect(detail.pageCount).toBe(3);
});
