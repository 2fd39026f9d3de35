/** What an archive does not list is removed only when it confirms that it is gone. */
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Archive, ArchiveItem, DocumentLabels } from "../../../src/dedup/archives/archive.ts";
import { createFolderArchive } from "../../../src/dedup/archives/folder.ts";
import { createJsonlArchive } from "../../../src/dedup/archives/jsonl.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { folderWith } from "../archives/reading.ts";
import { createInlinePool } from "../inline-pool.ts";
import { openSide, type Side } from "./side.ts";

/** Documents by ref; those of `unlisted` are there and not listed. */
interface Papers {
  readonly documents: Map<string, { readonly text: string; readonly labels: DocumentLabels }>;
  readonly unlisted: Set<string>;
  /** Refs that were asked for by name. */
  readonly asked: string[];
  failing: boolean;
}

const LABELS: DocumentLabels = { tags: ["inbox"], correspondent: "Northwind" };

function fill(count: number): Papers {
  const documents = Array.from(
    { length: count },
    (_, index) => [String(index + 1), { text: `words of ${index}`, labels: LABELS }] as const,
  );
  return { documents: new Map(documents), unlisted: new Set(), asked: [], failing: false };
}

function archiveOf(papers: Papers): Archive {
  return {
    name: "papers",
    kind: "paperless",
    check: () => Promise.resolve(),
    async *read({ known, force }) {
      const listed = [...papers.documents].filter(([ref]) => !papers.unlisted.has(ref));
      const items = listed.map(([ref, { text, labels }]): ArchiveItem => {
        if (!force && known(ref, text)) return { kind: "unchanged", ref, labels };
        return { kind: "document", ref, version: text, title: ref, text, notes: [], ...labels };
      });
      yield { items, fraction: 1 };
    },
    stillThere(refs) {
      papers.asked.push(...refs);
      if (papers.failing) throw new StewardError("upstream", "archive papers: it is down");
      return Promise.resolve(new Set(refs.filter((ref) => papers.documents.has(ref))));
    },
  };
}

async function synced(papers: Papers): Promise<Side> {
  const side = await openSide([archiveOf(papers)]);
  await side.sync();
  side.changes.length = 0;
  return side;
}

describe("documents that the list left out", () => {
  it("stay when the archive has them, and go when it has not", async () => {
    const papers = fill(30);
    const side = await synced(papers);
    papers.unlisted.add("3");
    papers.documents.delete("7");
    const result = await side.sync();
    expect(papers.asked.toSorted()).toEqual(["3", "7"]);
    expect(result.reconciled).toBe(1);
    expect(side.store.byRef("papers", "3")).toBeDefined();
    expect(side.store.byRef("papers", "7")).toBeUndefined();
  });

  it("stay when the archive cannot be asked, and the sync fails", async () => {
    const papers = fill(30);
    const side = await synced(papers);
    papers.documents.delete("7");
    papers.failing = true;
    await expect(side.sync()).rejects.toThrow("archive papers: it is down");
    expect(side.store.index.size).toBe(30);
    papers.failing = false;
    expect((await side.sync()).reconciled).toBe(1);
  });

  it.each([
    { known: 50, left: 20, kept: true },
    { known: 30, left: 15, kept: false },
    { known: 20, left: 1, kept: false },
  ])("of $known with $left left are kept: $kept", async ({ known, left, kept }) => {
    const papers = fill(known);
    const side = await synced(papers);
    for (const ref of [...papers.documents.keys()].slice(left)) papers.documents.delete(ref);
    const outcome = await side.sync().then(
      () => undefined,
      (error: unknown) => error as StewardError,
    );
    expect([outcome?.rule, side.store.index.size]).toEqual(
      kept ? ["VANISHED", known] : [undefined, left],
    );
    expect((await side.sync({ force: true })).reconciled).toBe(kept ? known - left : 0);
    expect(side.store.index.size).toBe(left);
  });
});

/** The lines of a file with these documents. */
function linesOf(count: number): string {
  return Array.from({ length: count }, (_, at) =>
    JSON.stringify({ id: `${at}`, content: `words of ${at}` }),
  ).join("\n");
}

describe.each([
  {
    kind: "folder",
    remedy: 'check that all folders of archive "files" are mounted, or run sync with force',
  },
  {
    kind: "jsonl",
    remedy: 'check that the file of archive "files" is whole, or run sync with force',
  },
] as const)("documents of an archive of kind $kind that are missing", ({ kind, remedy }) => {
  it.each([
    { known: 50, left: 24, kept: true },
    { known: 50, left: 25, kept: false },
    { known: 30, left: 9, kept: true },
    { known: 30, left: 10, kept: false },
  ])("with $left of $known left are kept: $kept", async ({ known, left, kept }) => {
    const path = folderWith({ "lines.jsonl": linesOf(known) });
    const nameOf = (at: number): string => join(path, "in", `${at}.txt`);
    mkdirSync(join(path, "in"));
    for (let at = 0; at < known; at++) writeFileSync(nameOf(at), `words of ${at}`);
    const deps = { pool: createInlinePool() };
    const lines = join(path, "lines.jsonl");
    const archive =
      kind === "jsonl"
        ? createJsonlArchive(deps, { name: "files", source: { path: lines } })
        : createFolderArchive(deps, { name: "files", path, include: [], exclude: [] });
    const side = await openSide([archive]);
    await side.sync();
    writeFileSync(lines, linesOf(left));
    for (let at = left; at < known; at++) rmSync(nameOf(at));

    const outcome = await side.sync().then(
      () => undefined,
      (error: unknown) => error as StewardError,
    );
    expect([outcome?.rule, outcome?.remedy, side.store.index.size]).toEqual(
      kept ? ["VANISHED", remedy, known] : [undefined, undefined, left],
    );
    expect((await side.sync({ force: true })).reconciled).toBe(kept ? known - left : 0);
    expect(side.store.index.size).toBe(left);
  });
});

it("documents of a folder that was renamed come in at once, and go with the next sync", async () => {
  const files = Array.from({ length: 30 }, (_, at) => [`old/${at}.txt`, `words of ${at}`] as const);
  const path = folderWith(Object.fromEntries(files));
  const pool = createInlinePool();
  const options = { name: "files", path, include: [], exclude: [] };
  const side = await openSide([createFolderArchive({ pool }, options)]);
  await side.sync();
  renameSync(join(path, "old"), join(path, "new"));
  await expect(side.sync()).rejects.toThrow(
    "archive files no longer lists 30 of 30 known documents; they are kept. Run sync with force if they really were deleted or moved",
  );
  expect(side.store.byRef("files", "new/1.txt")).toBeDefined();
  expect(await side.sync()).toMatchObject({ inserted: 0, reconciled: 30 });
  expect(side.store.index.size).toBe(30);
});

it("documents of a file that is written while it is read are kept, and those that are new come in", async () => {
  const path = join(folderWith({ "lines.jsonl": linesOf(10) }), "lines.jsonl");
  const lines = createJsonlArchive(
    { pool: createInlinePool() },
    { name: "lines", source: { path } },
  );
  let more = "";
  const archive: Archive = {
    ...lines,
    async *read(options) {
      for await (const batch of lines.read(options)) {
        if (more !== "") appendFileSync(path, more);
        yield batch;
      }
    },
  };
  const side = await openSide([archive]);
  await side.sync();
  writeFileSync(path, `${linesOf(4)}\n{"id":"new","content":"new words"}\n`);
  more = '{"id":"9","content":"words of 9"}\n';
  const result = await side.sync();
  expect(result).toMatchObject({ inserted: 1, reconciled: 0 });
  expect(result.errors).toEqual([
    "lines: lines: was changed while it was read, so that lines may be missing",
    "lines: 6 documents are no longer listed but kept, because part of the archive could not be read; fix that part or run sync with force",
  ]);
  expect(side.store.index.size).toBe(11);
});

describe("labels that changed without their document", () => {
  it("are stored with the text and its analysis as they were", async () => {
    const papers = fill(3);
    const side = await synced(papers);
    for (const [ref, { text }] of papers.documents)
      papers.documents.set(ref, { text, labels: { tags: ["in", "tax"], documentType: "Bill" } });
    const before = side.store.byRef("papers", "2");
    const result = await side.sync();
    const atMs = side.clock.now();
    const after = side.store.byRef("papers", "2");
    expect(result).toMatchObject({ updated: 3, inserted: 0, skipped: 0 });
    expect(after).toMatchObject({
      docNo: before?.docNo,
      contentHash: before?.contentHash,
      pending: before?.pending,
      tags: ["in", "tax"],
      documentType: "Bill",
      syncedAtMs: atMs,
      firstSeenAtMs: before?.firstSeenAtMs,
    });
    expect(after?.correspondent).toBeUndefined();
    expect(after && (await side.store.fullText(after))).toBe("words of 1");
    expect((await side.sync()).skipped).toBe(3);
  });

  it("start no analysis; a new text does", async () => {
    const papers = fill(3);
    const side = await synced(papers);
    papers.documents.set("2", { text: "words of 1", labels: { tags: [] } });
    await side.sync();
    papers.documents.set("3", { text: "other words", labels: LABELS });
    await side.sync();
    papers.documents.delete("1");
    await side.sync();
    expect(side.changes).toEqual([0, 1, 1]);
  });

  it("are counted once by a sync that died and resumed", async () => {
    const papers = fill(3);
    const side = await synced(papers);
    papers.documents.set("2", { text: "new words", labels: LABELS });
    await expect(side.sync({}, { dieAt: 4 })).rejects.toThrow("died");
    side.changes.length = 0;
    expect(await side.sync({}, { resumed: true })).toMatchObject({ updated: 1 });
    expect(side.changes).toEqual([1]);
  });
});
