import { createHash } from "node:crypto";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Archive, ArchiveDocument, ArchiveItem } from "../../../src/dedup/archives/archive.ts";
import { createFolderArchive } from "../../../src/dedup/archives/folder.ts";
import { createJsonlArchive } from "../../../src/dedup/archives/jsonl.ts";
import { metaDocNos, metaNumber, skippedItems } from "../../../src/dedup/meta.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { documents, texts } from "../../../src/dedup/tables.ts";
import { folderWith } from "../archives/reading.ts";
import { mail } from "../../support/documents.ts";
import { createInlinePool } from "../inline-pool.ts";
import { openSide, type Side } from "./side.ts";

const pool = createInlinePool();

function folder(name: string, path: string): Archive {
  return createFolderArchive({ pool }, { name, path, include: [], exclude: [] });
}

/** What is stored, without ids and times: ref → [text, pending]. */
async function contents({
  env,
  store,
}: Side): Promise<Record<string, [string | undefined, boolean]>> {
  const rows = env.read((snapshot) => [...snapshot.range(documents)].map(([, row]) => row));
  const entries = await Promise.all(
    rows.map(async (row) => [row.archiveRef, [await store.fullText(row), row.pending]] as const),
  );
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1))) as Record<
    string,
    [string | undefined, boolean]
  >;
}

async function markAnalysed({ env, store }: Side): Promise<void> {
  await env.write((tx) => {
    for (const [, row] of Array.from(tx.range(documents)))
      store.put(tx, { ...row, pending: false });
  });
}

/** An archive of given items. */
function scripted(
  name: string,
  items: () => readonly ArchiveItem[],
  check: () => Promise<void> = () => Promise.resolve(),
): Archive {
  return {
    name,
    kind: "jsonl",
    check,
    async *read({ known, force }) {
      yield {
        items: items().map((item) =>
          item.kind === "document" && !force && known(item.ref, item.version)
            ? { kind: "unchanged" as const, ref: item.ref }
            : item,
        ),
        fraction: 1,
      };
    },
  };
}

function documentOf(ref: string, text: string, version = text): ArchiveDocument {
  return { kind: "document", ref, version, title: ref, text, tags: [], notes: [] };
}

describe("a sync", () => {
  it("lists a thousand files that it could not read, however long their names are", async () => {
    const long = "名".repeat(990);
    const archive = scripted("list", () =>
      Array.from({ length: 1_200 }, (_, at) => ({
        kind: "skipped" as const,
        ref: `${long}${at}`,
        reason: "damaged",
        detail: "名".repeat(300),
        failure: true,
        hides: "itself" as const,
      })),
    );
    const side = await openSide([archive]);
    expect(await side.sync()).toMatchObject({ failed: 1_200 });
    expect(side.env.read(skippedItems)).toHaveLength(1_000);
  });

  it("with force stores a text again whose version is known, though only its case differs", async () => {
    let text = "alpha beta";
    const archive = scripted("list", () => [documentOf("a", text, "the same")]);
    const side = await openSide([archive]);
    await side.sync();
    await markAnalysed(side);
    text = "ALPHA  beta";
    expect(await side.sync()).toMatchObject({ updated: 0, skipped: 1 });
    expect(await contents(side)).toEqual({ a: ["alpha beta", false] });
    expect(await side.sync({ force: true })).toMatchObject({ updated: 0, skipped: 1 });
    expect(await contents(side)).toEqual({ a: ["ALPHA  beta", false] });
  });

  it("stores what is new, and the second time finds nothing to do", async () => {
    const path = folderWith({
      "a.txt": "alpha beta",
      "b/c.md": "# Title\n\ntext",
      "empty.txt": " \n",
      "x.png": "",
    });
    const side = await openSide([folder("notes", path)]);
    expect(await side.sync()).toEqual({
      totalFetched: 3,
      inserted: 3,
      updated: 0,
      skipped: 0,
      failed: 0,
      reconciled: 0,
      errors: [],
      durationMs: 0,
      syncType: "full",
      skipReasons: { "other type": 1 },
    });
    expect(await contents(side)).toEqual({
      "a.txt": ["alpha beta", true],
      "b/c.md": ["# Title\n\ntext", true],
      "empty.txt": [undefined, true],
    });
    expect(side.store.byRef("notes", "b/c.md")).toMatchObject({
      title: "Title",
      wordCount: 3,
      archive: "notes",
      docNo: 2,
    });
    const before = side.env.read((snapshot) => [...snapshot.range(documents)]);
    expect(await side.sync()).toMatchObject({
      totalFetched: 3,
      inserted: 0,
      updated: 0,
      skipped: 3,
      syncType: "incremental",
    });
    expect(side.env.read((snapshot) => [...snapshot.range(documents)])).toEqual(before);
    expect(await side.sync({ force: true })).toMatchObject({
      inserted: 0,
      updated: 0,
      skipped: 3,
      syncType: "full",
    });
    expect(side.changes).toEqual([3, 0, 0]);
    expect(
      side.env.read((snapshot) => [
        metaNumber(snapshot, "lastSyncCount"),
        metaNumber(snapshot, "syncSerial"),
        metaNumber(snapshot, "nextDocNo"),
      ]),
    ).toEqual([0, 3, 4]);
    expect(side.messages).toContain("read 900 notes: 3 documents read, 3 new, 0 changed");
  });

  it("sees edits, deletions, renames and touches, each as what it is", async () => {
    const path = folderWith({
      "edit.txt": "one",
      "gone.txt": "two",
      "old.txt": "three",
      "touch.txt": "four",
    });
    const side = await openSide([folder("notes", path)]);
    await side.sync();
    await markAnalysed(side);
    const touched = side.store.byRef("notes", "touch.txt");
    writeFileSync(join(path, "edit.txt"), "one changed");
    rmSync(join(path, "gone.txt"));
    renameSync(join(path, "old.txt"), join(path, "new.txt"));
    writeFileSync(join(path, "touch.txt"), "four");
    expect(await side.sync()).toMatchObject({
      inserted: 1,
      updated: 2,
      reconciled: 2,
      skipped: 0,
      failed: 0,
    });
    expect(await contents(side)).toEqual({
      "edit.txt": ["one changed", true],
      "new.txt": ["three", true],
      "touch.txt": ["four", false],
    });
    expect(side.store.byRef("notes", "touch.txt")).toMatchObject({
      id: touched?.id,
      docNo: touched?.docNo,
    });
    expect(side.forgotten).toHaveLength(2);
    expect(side.textEnv.read((snapshot) => snapshot.count(texts as never))).toBe(3);
  });

  it("takes the text away with the content and gives it back", async () => {
    let text = "some words";
    const side = await openSide([scripted("s", () => [documentOf("a", text)])]);
    await side.sync();
    text = "";
    expect(await side.sync()).toMatchObject({ updated: 1 });
    expect(await contents(side)).toEqual({ a: [undefined, true] });
    expect(side.textEnv.read((snapshot) => snapshot.count(texts as never))).toBe(0);
    text = "words again";
    await side.sync();
    expect(await contents(side)).toEqual({ a: ["words again", true] });
  });

  it("updates metadata without another analysis", async () => {
    let title = "one";
    const side = await openSide([
      scripted("s", () => [{ ...documentOf("a", "text", title), title }]),
    ]);
    await side.sync();
    await markAnalysed(side);
    title = "two";
    expect(await side.sync()).toMatchObject({ updated: 1 });
    expect(side.store.byRef("s", "a")).toMatchObject({ title: "two", pending: false });
  });

  it("notes when a row was written, and when the sync began that brought the document", async () => {
    let title = "one";
    const side = await openSide([
      scripted("s", () => {
        side.clock.advance(5_000);
        return [{ ...documentOf("a", "text", title), title }];
      }),
    ]);
    const firstMs = side.clock.now() + 60_000;
    await side.sync();
    expect(side.store.byRef("s", "a")).toMatchObject({
      syncedAtMs: firstMs + 5_000,
      firstSeenAtMs: firstMs,
    });
    title = "two";
    await side.sync();
    expect(side.store.byRef("s", "a")).toMatchObject({
      syncedAtMs: firstMs + 70_000,
      firstSeenAtMs: firstMs,
    });
  });

  it("tells of what it stored though every archive failed", async () => {
    const broken = (ref: string): Archive => ({
      ...scripted("s", () => []),
      async *read() {
        yield { items: [documentOf(ref, `text ${ref}`)], fraction: 0.5 };
        throw new StewardError("upstream", "the rest cannot be read");
      },
    });
    const side = await openSide([broken("a")]);
    await expect(side.sync()).rejects.toThrow("the rest cannot be read");
    side.archives = [broken("b")];
    await expect(side.sync()).rejects.toThrow("the rest cannot be read");
    expect(side.changes).toEqual([1, 1]);
  });

  it("refuses to believe an archive that is suddenly empty, unless forced", async () => {
    const path = folderWith({ "a.txt": "a", "b.txt": "b" });
    const side = await openSide([folder("notes", path)]);
    await side.sync();
    for (const name of ["a.txt", "b.txt"]) rmSync(join(path, name));
    await expect(side.sync()).rejects.toThrow(
      "archive notes is empty, but 2 documents of it are known; run sync with force if it really is empty",
    );
    expect(side.store.index.size).toBe(2);
    expect(await side.sync({ force: true })).toMatchObject({ reconciled: 2 });
    expect(side.store.index.size).toBe(0);
  });

  it("removes nothing of an archive that is not there, and syncs the others", async () => {
    const path = folderWith({ "in/a.txt": "a" });
    const other = folderWith({ "o.txt": "o" });
    const side = await openSide([folder("notes", join(path, "in")), folder("other", other)]);
    await side.sync();
    rmSync(join(path, "in"), { recursive: true });
    rmSync(join(other, "o.txt"));
    writeFileSync(join(other, "p.txt"), "p");
    await expect(side.sync()).rejects.toThrow(
      /archive notes: .* cannot be read: ENOENT; 1 of 2 archives were synced: 1 new, 0 changed/,
    );
    expect(Object.keys(await contents(side))).toEqual(["a.txt", "p.txt"]);
    expect(side.changes.at(-1)).toBe(2);
    mkdirSync(join(path, "in"));
    writeFileSync(join(path, "in/a.txt"), "a");
    expect(await side.sync()).toMatchObject({ reconciled: 0, updated: 1 });
  });

  it("probes no Paperless-ngx, whose requests are repeated, but every other archive", async () => {
    const fails = (): Promise<void> =>
      Promise.reject(new StewardError("upstream", "the probe failed"));
    const server = { ...scripted("s", () => [documentOf("a", "a")], fails), kind: "paperless" };
    const side = await openSide([server as Archive]);
    expect(await side.sync()).toMatchObject({ inserted: 1 });
    side.archives = [scripted("s", () => [], fails)];
    await expect(side.sync()).rejects.toThrow("the probe failed");
  });

  it("keeps what may hide behind something unreadable", async () => {
    const there: readonly ArchiveItem[] = [
      documentOf("f/a", "a"),
      documentOf("f/g/b", "b"),
      documentOf("c", "c"),
      documentOf("d", "d"),
    ];
    let items: readonly ArchiveItem[] = there;
    const side = await openSide([scripted("s", () => items)]);
    await side.sync();
    const skipped = {
      kind: "skipped",
      reason: "unreadable",
      detail: "cannot be read: EACCES",
      failure: true,
    } as const;
    items = [
      { ...skipped, ref: "f", hides: "below" },
      { ...skipped, ref: "c", hides: "itself" },
    ];
    const result = await side.sync();
    expect(result).toMatchObject({
      failed: 2,
      reconciled: 1,
      skipReasons: { unreadable: 2 },
      errors: ["s: f: cannot be read: EACCES", "s: c: cannot be read: EACCES"],
    });
    expect(Object.keys(await contents(side))).toEqual(["c", "f/a", "f/g/b"]);
    items = [{ ...skipped, ref: "line 2", hides: "any" }, documentOf("c", "c")];
    expect((await side.sync()).errors).toContain(
      "s: 2 documents are no longer listed but kept, because part of the archive could not be read; fix that part or run sync with force",
    );
    expect(await side.sync({ force: true })).toMatchObject({ reconciled: 2 });
    expect(Object.keys(await contents(side))).toEqual(["c"]);
  });

  it("counts at most a hundred failures in words, all of them in numbers", async () => {
    const side = await openSide([
      scripted("s", () =>
        Array.from({ length: 250 }, (_, at) => ({
          kind: "skipped" as const,
          ref: String(at),
          reason: "broken line",
          detail: "bad",
          failure: true,
          hides: "any" as const,
        })),
      ),
    ]);
    const result = await side.sync();
    expect([result.failed, result.errors.length, result.errors.at(-1)]).toEqual([
      250,
      101,
      "and 150 more",
    ]);
    expect(side.notes).toHaveLength(250);
  });

  it("keeps documents of an archive that left the configuration until it is forced", async () => {
    const side = await openSide([
      scripted("a", () => [documentOf("x", "x")]),
      scripted("b", () => [documentOf("y", "y")]),
    ]);
    await side.sync();
    side.archives = side.archives.slice(0, 1);
    expect((await side.sync()).errors).toEqual([
      "b is no longer among the archives; its 1 documents are kept until a sync with force",
    ]);
    expect(await side.sync({ force: true })).toMatchObject({ reconciled: 1 });
    expect(Object.keys(await contents(side))).toEqual(["x"]);
  });

  it("forgets everything on purge and numbers go on", async () => {
    const side = await openSide([
      scripted("s", () =>
        Array.from({ length: 200 }, (_, at) => documentOf(String(at), `text ${at}`)),
      ),
    ]);
    await side.sync();
    expect(await side.sync({ purge: true })).toMatchObject({
      inserted: 200,
      updated: 0,
      skipped: 0,
      syncType: "full",
    });
    const docNos = side.env.read((snapshot) =>
      [...snapshot.range(documents)].map(([docNo]) => docNo),
    );
    expect([
      docNos.length,
      docNos[0],
      side.store.index.size,
      side.textEnv.read((snapshot) => snapshot.count(texts as never)),
    ]).toEqual([200, 201, 200, 200]);
  });

  it("cuts texts to what is kept, also those that hardly pack", async () => {
    const bytes = createHash("shake256", { outputLength: 1_000_000 }).update("seed").digest();
    const noise = Array.from({ length: 500_000 }, (_, at) =>
      String.fromCharCode(0x800 + (bytes.readUInt16LE(at * 2) % 0xd000)),
    ).join("");
    const side = await openSide([
      scripted("s", () => [
        documentOf("long", "word ".repeat(200_000), "1"),
        documentOf("noise", noise, "1"),
      ]),
    ]);
    await side.sync();
    const { long, noise: kept } = await contents(side);
    expect(long?.[0]).toHaveLength(500_000);
    expect(kept?.[0] === noise.slice(0, 250_000)).toBe(true);
    expect(side.notes).toEqual([
      "truncated to 500,000 characters: s: long",
      "truncated to 250000 characters, because it cannot be compressed further: s: noise",
    ]);
  });

  it("ends at a cancel and leaves what was stored whole", async () => {
    const stop = new AbortController();
    const side = await openSide([
      scripted("s", () => (stop.abort(new Error("enough")), [documentOf("a", "a")])),
    ]);
    await expect(side.sync({}, { signal: stop.signal })).rejects.toThrow("enough");
    expect(await side.sync()).toMatchObject({ inserted: 1 });
  });

  it("broken lines and links do not stop it", async () => {
    const path = folderWith({
      "a.txt": "a",
      "bad.txt": "\0",
      "lines/l.jsonl": '{"id":1,"content":"x"}\n{oops\n{"id":1,"content":"y"}\n',
    });
    symlinkSync("nowhere", join(path, "dangling"));
    symlinkSync(".", join(path, "self"));
    const lines = createJsonlArchive(
      { pool },
      { name: "lines", source: { path: join(path, "lines/l.jsonl") } },
    );
    const side = await openSide([folder("notes", path), lines]);
    const result = await side.sync();
    expect(result).toMatchObject({
      inserted: 2,
      failed: 4,
      skipReasons: {
        "JSON Lines": 1,
        link: 1,
        "not text": 1,
        "broken link": 1,
        "broken line": 1,
        "equal id": 1,
      },
    });
    expect(result.errors.map((error) => error.split(":").slice(0, 2).join(":"))).toEqual([
      "notes: bad.txt",
      "notes: dangling",
      "lines: line 2",
      "lines: line 3",
    ]);
  });
});

describe("a sync beside a deletion", () => {
  /** Removes a document's row and text, as the last step of a deletion job does. */
  async function remove({ env, store }: Side, ref: string): Promise<void> {
    const docNo = store.byRef("s", ref)?.docNo ?? 0;
    await env.write((tx) => store.remove(tx, docNo));
    await store.dropTexts([docNo]);
  }

  /** With documents a and b, of which a deletion removes b after the archive has listed it. */
  async function openListed(listed: () => readonly ArchiveItem[]): Promise<Side> {
    const side = await openSide([
      scripted("s", () => [documentOf("a", "text a"), documentOf("b", "text b")]),
    ]);
    await side.sync();
    side.archives = [
      {
        ...scripted("s", () => []),
        async *read({ known }) {
          for (const ref of ["a", "b"]) known(ref, `text ${ref}`);
          const items = listed();
          await remove(side, "b");
          yield { items, fraction: 1 };
        },
      },
    ];
    return side;
  }

  function expectOnlyA(side: Side): void {
    expect([side.store.index.size, side.store.byRef("s", "b")]).toEqual([1, undefined]);
    expect(side.textEnv.read((snapshot) => snapshot.count(texts as never))).toBe(1);
  }

  it("writes no labels of a document that was removed", async () => {
    const side = await openListed(() =>
      ["a", "b"].map((ref) => ({ kind: "unchanged", ref, labels: { tags: ["new"] } })),
    );
    expect(await side.sync()).toMatchObject({ updated: 1, reconciled: 0 });
    expectOnlyA(side);
    expect(side.store.byRef("s", "a")?.tags).toEqual(["new"]);
  });

  it("stores no text of a document that is removed before its row is written", async () => {
    let text = "text b";
    const side = await openSide([
      scripted("s", () => [documentOf("a", "text a"), documentOf("b", text)]),
    ]);
    await side.sync();
    const putTexts = side.store.putTexts.bind(side.store);
    Object.assign(side.store, {
      putTexts: async (rows: Parameters<typeof putTexts>[0]) => {
        await remove(side, "b");
        await putTexts(rows);
      },
    });
    text = "another text";
    expect(await side.sync()).toMatchObject({ updated: 0, reconciled: 0 });
    expectOnlyA(side);
    expect(side.changes).toEqual([2, 0]);
    expect(side.env.read((snapshot) => metaDocNos(snapshot, "rewriting"))).toEqual([]);
  });

  it("does not take for new what was removed after the archive listed it", async () => {
    const items = [documentOf("a", "text a"), documentOf("b", "another text")];
    const side = await openListed(() => items);
    expect(await side.sync()).toMatchObject({ inserted: 0, updated: 0 });
    expectOnlyA(side);
    side.archives = [scripted("s", () => items)];
    expect(await side.sync()).toMatchObject({ inserted: 1 });
  });
});

describe("a file that holds others", () => {
  const headers = { From: "a@example.com", Subject: "subject" };
  const attachment = (text: string): readonly [string, Uint8Array] => [
    `${text}.txt`,
    Buffer.from(text),
  ];

  it("keeps the documents in it while it is unchanged, and loses those that leave it", async () => {
    const path = folderWith({
      "m.eml": mail(headers, "body", [attachment("one"), attachment("two")]),
    });
    const side = await openSide([folder("mails", path)]);
    expect(await side.sync()).toMatchObject({ inserted: 3 });
    const all = ["m.eml", "m.eml/one.txt", "m.eml/two.txt"];
    expect(Object.keys(await contents(side))).toEqual(all);
    expect(await side.sync()).toMatchObject({ inserted: 0, updated: 0, reconciled: 0 });
    expect(Object.keys(await contents(side))).toEqual(all);
    writeFileSync(join(path, "m.eml"), mail(headers, "body", [attachment("two")]));
    expect(await side.sync()).toMatchObject({ inserted: 0, reconciled: 1 });
    expect(Object.keys(await contents(side))).toEqual(["m.eml", "m.eml/two.txt"]);
    rmSync(join(path, "m.eml"));
    writeFileSync(join(path, "other.txt"), "other");
    await side.sync();
    expect(Object.keys(await contents(side))).toEqual(["other.txt"]);
  });

  it("is read again when the sync died before the file itself was stored", async () => {
    const path = folderWith({
      "m.eml": mail(headers, "body", [attachment("one"), attachment("two")]),
    });
    for (let dieAt = 2; dieAt <= 5; dieAt++) {
      const side = await openSide([folder("mails", path)]);
      await side.sync({}, { dieAt }).catch(() => undefined);
      await side.sync({}, { resumed: true });
      expect(Object.keys(await contents(side)), `died at commit ${dieAt}`).toHaveLength(3);
    }
  });
});

describe("a text that is longer than a document keeps", () => {
  it("is stored with a mark, from a file, a member of a mail and a line alike", async () => {
    const long = "word ".repeat(100_001);
    const path = folderWith({
      "long.txt": long,
      "short.txt": "word",
      "m.eml": mail({ From: "a", Subject: "s" }, "body", [["long.txt", Buffer.from(long)]]),
      "l.jsonl": `${JSON.stringify({ id: "long", content: long })}\n{"id":"short","content":"x"}`,
    });
    const lines = createJsonlArchive(
      { pool },
      { name: "lines", source: { path: join(path, "l.jsonl") } },
    );
    const side = await openSide([folder("notes", path), lines]);
    await side.sync();
    const rows = side.env.read((snapshot) => [...snapshot.range(documents)].map(([, row]) => row));
    expect(Object.fromEntries(rows.map((row) => [row.archiveRef, row.truncated]))).toEqual({
      "long.txt": true,
      "short.txt": false,
      "m.eml": false,
      "m.eml/long.txt": true,
      long: true,
      short: false,
    });
  });
});

describe("a sync that died", () => {
  it("ends in the same store and the same counts, wherever it died", async () => {
    const first = Array.from({ length: 150 }, (_, at) =>
      documentOf(String(at), `text number ${at}`),
    );
    const second = [
      ...first
        .slice(20, 100)
        .map((item, at) =>
          at % 2 === 0 ? documentOf(item.ref, `changed text ${item.ref}`) : item,
        ),
      ...Array.from({ length: 90 }, (_, at) => documentOf(`new ${at}`, `new text ${at}`)),
    ];
    let items = first;
    const undisturbed = await openSide([scripted("s", () => items)]);
    await undisturbed.sync();
    items = second;
    const wanted = await undisturbed.sync();
    const stored = await contents(undisturbed);
    for (let dieAt = 1; ; dieAt++) {
      items = first;
      const side = await openSide([scripted("s", () => items)]);
      await side.sync();
      items = second;
      const died = await side.sync({}, { dieAt }).then(
        () => false,
        () => true,
      );
      if (!died) {
        expect(dieAt).toBeGreaterThan(5);
        break;
      }
      expect(await side.sync({}, { resumed: true })).toMatchObject({
        ...wanted,
        durationMs: expect.any(Number) as number,
      });
      expect(await contents(side)).toEqual(stored);
      expect(side.env.read((snapshot) => metaDocNos(snapshot, "rewriting"))).toEqual([]);
    }
  });

  it("between a text and its row mends the text although the document went back to what it was", async () => {
    let text = "the first text";
    const side = await openSide([scripted("s", () => [documentOf("a", text)])]);
    await side.sync();
    await markAnalysed(side);
    text = "another text";
    await expect(side.sync({}, { dieAt: 3 })).rejects.toThrow("died");
    text = "the first text";
    const row = side.store.byRef("s", "a");
    expect(row && side.store.text(row)).toBeUndefined();
    await side.sync();
    expect(await contents(side)).toEqual({ a: ["the first text", false] });
  });

  it("during a purge goes on with it, and does not purge again what came after", async () => {
    const side = await openSide([
      scripted("s", () =>
        Array.from({ length: 100 }, (_, at) => documentOf(String(at), `text ${at}`)),
      ),
    ]);
    await side.sync();
    for (const dieAt of [3, 6]) {
      await expect(side.sync({ purge: true }, { dieAt })).rejects.toThrow("died");
      expect(await side.sync({ purge: true }, { resumed: true })).toMatchObject({
        inserted: 100,
        skipped: 0,
      });
      expect(side.store.index.size).toBe(100);
    }
  });
});
