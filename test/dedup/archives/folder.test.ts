import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { createFolderArchive } from "../../../src/dedup/archives/folder.ts";
import type { Archive } from "../../../src/dedup/archives/archive.ts";
import type { FileToClaim } from "../../../src/dedup/archives/claims.ts";
import type { Pool } from "../../../src/kernel/pool/types.ts";
import { ENDLESS_WIDTHS, mail, pdf } from "../../support/documents.ts";
import { createInlinePool } from "../inline-pool.ts";
import {
  complaints,
  documentsOf,
  folderWith,
  gather,
  readAll,
  refsOf,
  skippedOf,
  readOptions,
  realPool,
} from "./reading.ts";

const never = new AbortController().signal;

function archiveOf(
  path: string,
  patterns: { include?: string[]; exclude?: string[] } = {},
  pool: Pool = createInlinePool(),
): Archive {
  return createFolderArchive(
    { pool },
    { name: "notes", path, include: [], exclude: [], ...patterns },
  );
}

describe("a folder as an archive", () => {
  it("gives every file with text, recursively and in a stable order, and counts the rest by type", async () => {
    const folder = folderWith({
      "b.txt": "plain text",
      "a/note.md": "intro\n\n# The *Title* [here](http://x)\n\ntext",
      "a/page.html":
        "<html><head><title>A &amp; B</title></head><body><p>See <a href='http://x'>this</a></p></body></html>",
      LICENSE: "a license",
      "ls.1": ".TH LS 1",
      "old.LOG": "log",
      "picture.png": "x",
      "archive.zip": "x",
      "README.Debian": "notes",
      "packed.txt.gz": gzipSync("packed text"),
      "ls.1.gz": gzipSync(".TH"),
      "data.json": "{}",
      "empty.txt": "",
    });
    const items = await readAll(archiveOf(folder));
    expect(refsOf(items)).toEqual([
      "LICENSE",
      "README.Debian",
      "a/note.md",
      "a/page.html",
      "b.txt",
      "data.json",
      "empty.txt",
      "ls.1",
      "ls.1.gz",
      "old.LOG",
      "packed.txt.gz",
    ]);
    expect(
      Object.fromEntries(documentsOf(items).map(({ ref, title, text }) => [ref, [title, text]])),
    ).toMatchObject({
      LICENSE: ["LICENSE", "a license"],
      "a/note.md": ["The Title here", expect.stringContaining("# The") as string],
      "a/page.html": ["A & B", "See this"],
      "b.txt": ["b", "plain text"],
      "packed.txt.gz": ["packed", "packed text"],
      "empty.txt": ["empty", ""],
      "ls.1": ["ls", ".TH LS 1"],
    });
    expect(complaints(items)).toEqual([
      "archive.zip: other type: .zip",
      "picture.png: other type: .png",
    ]);
    expect(skippedOf(items).every(({ failure }) => !failure)).toBe(true);
    expect(documentsOf(items)[0]?.modifiedDate).toBe(
      new Date(Number(statSync(join(folder, "LICENSE"), { bigint: true }).mtimeMs)).toISOString(),
    );
    expect(await readAll(archiveOf(folder))).toEqual(items);
  });

  it("has each file claimed by its real path and facts, in order, and passes over what is refused", async () => {
    const names = Array.from({ length: 70 }, (_, at) => `${String(at).padStart(2, "0")}.txt`);
    const folder = folderWith(Object.fromEntries(names.map((name) => [name, `text ${name}`])));
    const asked: FileToClaim[] = [];
    const claim = (file: FileToClaim): boolean => asked.push(file) !== 2;
    const items = await readAll(archiveOf(folder), { claim });
    expect(asked.map(({ path }) => path)).toEqual(names.map((name) => join(folder, name)));
    for (const { path, stats } of asked)
      expect(stats?.ino).toBe(statSync(path, { bigint: true }).ino);
    expect(refsOf(items)).toEqual(names.filter((name) => name !== "01.txt"));
    expect(complaints(items)).toEqual([
      "01.txt: read already: was already read under another path",
    ]);
  });

  it("has the folder of each name of a hard-linked file claimed", async () => {
    const folder = folderWith({ "a.txt": "one text", "b.txt": "another", "c/d.txt": "third" });
    linkSync(join(folder, "a.txt"), join(folder, "c/a.txt"));
    const asked: FileToClaim[] = [];
    await readAll(archiveOf(folder), { claim: (file) => asked.push(file) > 0 });
    const inodeOf = (path: string): bigint => statSync(path, { bigint: true }).ino;
    expect(asked.map((file) => [file.path.slice(folder.length + 1), file.folder?.ino])).toEqual([
      ["a.txt", inodeOf(folder)],
      ["b.txt", undefined],
      ["c/a.txt", inodeOf(join(folder, "c"))],
      ["c/d.txt", undefined],
    ]);
  });

  it("reads UTF-8, UTF-16 and Windows-1252, and passes over what is not text", async () => {
    const folder = folderWith({
      "bom.txt": "\ufeffwith mark",
      "utf16le.txt": Buffer.from("\ufeffüber", "utf16le"),
      "utf16be.txt": Buffer.from("\ufeffüber", "utf16le").swap16(),
      "latin.txt": Buffer.from("caf\xe9 \x80", "latin1"),
      "binary.txt": Buffer.from([1, 0, 2]),
      "controls.txt": Buffer.from([0xe9, 1, 2]),
      tool: Buffer.from("\x7fELF\0"),
    });
    const items = await readAll(archiveOf(folder));
    expect(documentsOf(items).map(({ ref, text, notes }) => [ref, text, ...notes])).toEqual([
      ["bom.txt", "with mark"],
      ["latin.txt", "café €", "read as windows-1252"],
      ["utf16be.txt", "über", "read as UTF-16"],
      ["utf16le.txt", "über", "read as UTF-16"],
    ]);
    expect(skippedOf(items).map(({ ref, reason, failure }) => [ref, reason, failure])).toEqual([
      ["binary.txt", "not text", true],
      ["controls.txt", "not text", true],
      ["tool", "not text", false],
    ]);
  });

  it("follows links to files and folders once each, so that cycles end, and names broken ones", async () => {
    const outside = folderWith({ "far/far.txt": "far", "single.txt": "single" });
    const folder = folderWith({ "a/real.txt": "real", "z/blob.bin": "text behind a strange name" });
    symlinkSync("..", join(folder, "a/up"));
    symlinkSync(folder, join(folder, "a/self"));
    symlinkSync("real.txt", join(folder, "a/again.txt"));
    symlinkSync("loop2", join(folder, "loop1"));
    symlinkSync("loop1", join(folder, "loop2"));
    symlinkSync("nowhere", join(folder, "dangling.txt"));
    symlinkSync(join(outside, "far"), join(folder, "near"));
    symlinkSync(join(outside, "far"), join(folder, "nearer"));
    symlinkSync(join(outside, "single.txt"), join(folder, "one.txt"));
    symlinkSync(join(outside, "single.txt"), join(folder, "two.txt"));
    symlinkSync("../z/blob.bin", join(folder, "a/named.txt"));
    const items = await readAll(archiveOf(folder));
    expect(refsOf(items)).toEqual(["a/real.txt", "near/far.txt", "a/named.txt", "one.txt"]);
    expect(
      skippedOf(items)
        .filter(({ failure }) => failure)
        .map(({ ref, reason, detail }) => `${ref}: ${reason}: ${detail}`),
    ).toEqual([
      "dangling.txt: broken link: the target of the link does not exist",
      "loop1: broken link: the link points back to itself",
      "loop2: broken link: the link points back to itself",
    ]);
    expect(
      skippedOf(items)
        .filter(({ reason }) => reason === "link")
        .map(({ ref }) => ref),
    ).toEqual(["a/self", "a/up", "nearer", "a/again.txt", "two.txt"]);
  });

  it("a link that its name leaves out hides no other link to the same file", async () => {
    const outside = folderWith({ "letter.txt": "Dear reader" });
    const folder = folderWith({ "own.txt": "own" });
    for (const name of [".hidden", "a.png", "b.txt", "c.txt"])
      symlinkSync(join(outside, "letter.txt"), join(folder, name));
    const items = await readAll(archiveOf(folder));
    expect(refsOf(items)).toEqual(["own.txt", "b.txt"]);
    expect(
      skippedOf(items)
        .filter(({ reason }) => reason === "link")
        .map(({ ref }) => ref),
    ).toEqual(["c.txt"]);
  });

  it("does not walk out through a link to a folder around it", async () => {
    const outer = folderWith({ "secret.txt": "outside", "inner/in.txt": "inside" });
    symlinkSync(outer, join(outer, "inner/out"));
    const items = await readAll(archiveOf(join(outer, "inner")));
    expect(refsOf(items)).toEqual(["in.txt"]);
    expect(complaints(items)).toEqual(["out: link: points to a parent folder of this archive"]);
  });

  it("never waits on a pipe and leaves devices and version control alone", async () => {
    const folder = folderWith({ ".git/HEAD": "ref", "a.txt": "a" });
    execFileSync("mkfifo", [join(folder, "pipe.txt")]);
    const items = await readAll(archiveOf(folder));
    expect(refsOf(items)).toEqual(["a.txt"]);
    expect(complaints(items)).toEqual([
      ".git: version control: contains files of a version control system",
      "pipe.txt: no file: is a device, socket or pipe",
    ]);
  });

  it("names what it may not read and goes on", async () => {
    const folder = folderWith({ "a.txt": "a", "b.txt": "b", "shut/c.txt": "c" });
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "a.txt"), 0);
    chmodSync(join(folder, "shut"), 0);
    onTestFinished(() => chmodSync(join(folder, "shut"), 0o700));
    // Loaded while its files may still be read.
    await readAll(archiveOf(folderWith({ "first.txt": "first" })));
    using _ = asNobody();
    const items = await readAll(archiveOf(folder));
    expect(refsOf(items)).toEqual(["b.txt"]);
    expect(skippedOf(items).map(({ ref, detail, hides }) => [ref, detail, hides])).toEqual([
      ["a.txt", "cannot be read: EACCES", "below"],
      ["shut", "cannot be read: EACCES", "below"],
    ]);
  });

  it("refuses gzip bombs, broken gzip and files over 64 MiB", async () => {
    const folder = folderWith({
      "bomb.txt.gz": gzipSync(Buffer.alloc(65 * 1024 * 1024, "a ")),
      "broken.txt.gz": Buffer.from("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03no gzip", "latin1"),
      "cut.txt.gz": gzipSync("some text that is long enough").subarray(0, 20),
      "fine.txt": "fine",
    });
    for (const name of ["large.txt", "data"])
      writeFileSync(join(folder, name), Buffer.alloc(65 * 1024 * 1024, "a "));
    execFileSync("truncate", ["-s", "65M", join(folder, "program")]);
    const items = await readAll(archiveOf(folder));
    expect(refsOf(items)).toEqual(["fine.txt"]);
    expect(
      skippedOf(items)
        .filter(({ failure }) => !failure)
        .map(({ ref }) => ref),
    ).toEqual(["data", "program"]);
    expect(complaints(items)).toEqual([
      "bomb.txt.gz: too large: unpacks to more than 64 MiB",
      "broken.txt.gz: broken gzip: cannot be unpacked: Z_DATA_ERROR",
      "cut.txt.gz: broken gzip: cannot be unpacked: Z_BUF_ERROR",
      "data: too large: is larger than 64 MiB",
      "large.txt: too large: is larger than 64 MiB",
      "program: not text: holds NUL bytes",
    ]);
  });

  it("keeps no more of a long text than a document holds", async () => {
    const folder = folderWith({
      "long.txt": "ä".repeat(3_000_000),
      "long.html": `<p>${"<b>word</b> ".repeat(400_000)}</p>`,
    });
    const [html, text] = documentsOf(await readAll(archiveOf(folder)));
    expect(text?.text.length).toBe(500_000);
    expect(text?.notes).toEqual(["truncated to 500,000 characters"]);
    expect(html?.text.length).toBeLessThanOrEqual(500_000);
    expect(html?.notes).toContain("read up to 4 MiB of its HTML");
    expect([html?.truncated, text?.truncated]).toEqual([true, true]);
  });

  it("takes and leaves out what its patterns say", async () => {
    const folder = folderWith({
      "a.txt": "a",
      "b.md": "b",
      "node_modules/x/c.txt": "c",
      "docs/old/d.txt": "d",
      "docs/e.txt": "e",
    });
    expect(
      refsOf(await readAll(archiveOf(folder, { exclude: ["node_modules", "docs/old/"] }))),
    ).toEqual(["a.txt", "b.md", "docs/e.txt"]);
    expect(
      refsOf(await readAll(archiveOf(folder, { include: ["**/*.txt"], exclude: ["a.*"] }))),
    ).toEqual(["docs/e.txt", "docs/old/d.txt"]);
    expect(refsOf(await readAll(archiveOf(folder, { include: ["*.md"] })))).toEqual(["b.md"]);
    expect(() => archiveOf(folder, { include: ["x".repeat(70_000)] })).toThrow(
      /is not a file pattern/,
    );
  });

  it("leaves out hidden files and installed packages, unless a pattern names them", async () => {
    const folder = folderWith({
      "a.txt": "a",
      ".profile": "p",
      ".config/tool/b.txt": "b",
      "docs/.draft.txt": "c",
      "node_modules/x/README.md": "d",
      "docs/node_modules/y.txt": "e",
    });
    const items = await readAll(archiveOf(folder));
    expect(refsOf(items)).toEqual(["a.txt"]);
    expect(complaints(items).toSorted()).toEqual([
      ".config: hidden: is hidden; a pattern can include it",
      ".profile: hidden: is hidden; a pattern can include it",
      "docs/.draft.txt: hidden: is hidden; a pattern can include it",
      "docs/node_modules: node_modules: contains installed packages; a pattern can include it",
      "node_modules: node_modules: contains installed packages; a pattern can include it",
    ]);
    const named = async (include: string[]): Promise<string[]> =>
      refsOf(await readAll(archiveOf(folder, { include })));
    expect(await named([".config/**"])).toEqual([".config/tool/b.txt"]);
    expect(await named([".*"])).toEqual([".profile", "docs/.draft.txt"]);
    expect(await named(["**/node_modules/**"])).toEqual([
      "docs/node_modules/y.txt",
      "node_modules/x/README.md",
    ]);
    // What is inside of a folder that was given by its own path is not hidden.
    expect(refsOf(await readAll(archiveOf(join(folder, ".config"))))).toEqual(["tool/b.txt"]);
  });

  it("names files that are one file, and no copies", async () => {
    const folder = folderWith({ "a.txt": "same", "copy.txt": "same" });
    linkSync(join(folder, "a.txt"), join(folder, "b.txt"));
    const [a, b, copy] = documentsOf(await readAll(archiveOf(folder)));
    expect(a?.hardLink).toMatch(/^\d+:\d+$/);
    expect([b?.hardLink, copy?.hardLink]).toEqual([a?.hardLink, undefined]);
  });

  it("takes a mail's attachments as documents below it, and knows them when it is unchanged", async () => {
    const folder = folderWith({
      "m.eml": mail({ From: "a", Subject: "s" }, "body", [["n.txt", Buffer.from("note")]]),
      "plain.eml": mail({ From: "a", Subject: "t" }, "body"),
    });
    const items = await readAll(archiveOf(folder));
    expect(refsOf(items)).toEqual(["m.eml/n.txt", "m.eml", "plain.eml"]);
    const versions = new Map(documentsOf(items).map(({ ref, version }) => [ref, version]));
    const known = (ref: string, version: string): boolean => versions.get(ref) === version;
    expect(await readAll(archiveOf(folder), { known })).toEqual([
      { kind: "unchanged", ref: "m.eml", below: true },
      { kind: "unchanged", ref: "plain.eml" },
    ]);
  });

  it("reads only what changed, unless forced", async () => {
    const folder = folderWith({ "a.txt": "a", "b.txt": "b" });
    const versions = new Map(
      documentsOf(await readAll(archiveOf(folder))).map(({ ref, version }) => [ref, version]),
    );
    appendFileSync(join(folder, "b.txt"), " more");
    const known = (ref: string, version: string): boolean => versions.get(ref) === version;
    expect(
      (await readAll(archiveOf(folder), { known })).map(({ ref, kind }) => [ref, kind]),
    ).toEqual([
      ["a.txt", "unchanged"],
      ["b.txt", "document"],
    ]);
    expect(
      (await readAll(archiveOf(folder), { known, force: true })).map(({ kind }) => kind),
    ).toEqual(["document", "document"]);
  });

  it("fails when the folder is not there, is a file, or is replaced meanwhile", async () => {
    const folder = folderWith({ "file.txt": "x", "in/a.txt": "a" });
    await expect(archiveOf(join(folder, "none")).check(never)).rejects.toMatchObject({
      code: "upstream",
      rule: "ENOENT",
    });
    await expect(archiveOf(join(folder, "file.txt")).check(never)).rejects.toMatchObject({
      code: "upstream",
      rule: "ENOTDIR",
    });
    await expect(readAll(archiveOf(join(folder, "none")))).rejects.toThrow(
      /archive notes: .* cannot be read: ENOENT/,
    );
    const vanishing = archiveOf(join(folder, "in"));
    const reading = vanishing.read(
      readOptions({
        known: () => (rmSync(join(folder, "in"), { recursive: true, force: true }), false),
        force: false,
        signal: never,
      }),
    );
    await expect(gather(reading)).rejects.toThrow(/archive notes: .* cannot be read: ENOENT/);
    mkdirSync(join(folder, "swap"));
    writeFileSync(join(folder, "swap/a.txt"), "a");
    const swap = (): boolean => {
      renameSync(join(folder, "swap"), join(folder, "gone"));
      mkdirSync(join(folder, "swap"));
      return false;
    };
    await expect(
      gather(
        archiveOf(join(folder, "swap")).read(
          readOptions({ known: swap, force: false, signal: never }),
        ),
      ),
    ).rejects.toThrow(/was replaced while it was read/);
  });

  it("skips a file that vanishes or changes under its hands", async () => {
    const folder = folderWith({ "a.txt": "a", "b.txt": "b" });
    const items = await readAll(archiveOf(folder), {
      known: (ref) => (ref === "a.txt" && rmSync(join(folder, "a.txt")), false),
    });
    expect(refsOf(items)).toEqual(["b.txt"]);
    expect(complaints(items)).toEqual(["a.txt: vanished: vanished while the archive was read"]);
  });

  it("harms no other page when one breaks the conversion", async () => {
    const folder = folderWith({
      "a.html": "<p>good</p>",
      "b.html": "<p>breaks its worker</p>",
      "c.html": "<p>fine</p>",
    });
    const pool = createInlinePool((input) => JSON.stringify(input).includes("b.html"));
    const items = await readAll(
      createFolderArchive({ pool }, { name: "notes", path: folder, include: [], exclude: [] }),
    );
    expect(documentsOf(items).map(({ text }) => text)).toEqual(["good", "fine"]);
    expect(complaints(items)).toEqual(["b.html: unreadable: ended the worker that read it"]);
  });

  it("lets a page cost one worker and no other page its text", async () => {
    // More elements than the worker has memory for.
    const folder = folderWith({
      "a.html": "<p>good</p>",
      "b.html": "<p>".repeat(300_000),
      "c.html": "<p>fine</p>",
    });
    const pool = realPool(32);
    const items = await readAll(archiveOf(folder, {}, pool));
    expect(documentsOf(items).map(({ text }) => text)).toEqual(["good", "fine"]);
    expect(complaints(items)).toEqual([
      "b.html: too much memory: needs more memory than one file may take",
    ]);
    expect(pool.status().crashed).toBe(1);
  });

  it("lets a PDF whose reading ends its process cost nothing else", async () => {
    const folder = folderWith({
      "a.pdf": pdf(["good"]),
      "b.pdf": pdf(["words"], { font: ENDLESS_WIDTHS }),
      "c.pdf": pdf(["fine"]),
    });
    const pool = realPool(48);
    const items = await readAll(archiveOf(folder, {}, pool));
    expect(documentsOf(items).map(({ text }) => text)).toEqual(["good", "fine"]);
    expect(complaints(items)).toEqual([
      "b.pdf: too much memory: needs more memory than one file may take",
    ]);
    expect(pool.status().crashed).toBe(1);
  });

  it("reads a mail without its attachments when one of them ends its process, again each time", async () => {
    const attachments = [
      ["good.txt", Buffer.from("note")],
      ["bad.pdf", pdf(["words"], { font: ENDLESS_WIDTHS })],
    ] as const;
    const folder = folderWith({
      "a.eml": mail({ Subject: "s" }, "body", attachments),
      "b.eml.gz": gzipSync(mail({ Subject: "s" }, "packed", attachments)),
    });
    const pool = realPool(48);
    const items = await readAll(archiveOf(folder, {}, pool));
    expect(documentsOf(items).map(({ ref, text }) => [ref, text])).toEqual([
      ["a.eml", "s\n\nbody\n"],
      ["b.eml.gz", "s\n\npacked\n"],
    ]);
    const leftOut =
      "too much memory: was left out: its file and those within it need more memory than one file may take";
    expect(complaints(items)).toEqual(
      ["a.eml/good.txt", "a.eml/bad.pdf", "b.eml.gz/good.txt", "b.eml.gz/bad.pdf"].map(
        (ref) => `${ref}: ${leftOut}`,
      ),
    );
    expect(skippedOf(items).map(({ hides }) => hides)).toEqual(Array(4).fill("below"));
    expect(documentsOf(items).map(({ sharesFile }) => sharesFile)).toEqual([true, true]);
    const versions = new Map(documentsOf(items).map(({ ref, version }) => [ref, version]));
    const known = (ref: string, version: string): boolean => versions.get(ref) === version;
    expect(refsOf(await readAll(archiveOf(folder, {}, pool), { known }))).toEqual([
      "a.eml",
      "b.eml.gz",
    ]);
  });

  it("stops at once when it is cancelled", async () => {
    const folder = folderWith(
      Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`${at}.txt`, "text"])),
    );
    const stop = new AbortController();
    const read = async (): Promise<void> => {
      for await (const batch of archiveOf(folder).read(
        readOptions({
          known: () => false,
          force: false,
          signal: stop.signal,
        }),
      ))
        if (batch.items.length > 0) stop.abort(new Error("enough"));
    };
    await expect(read()).rejects.toThrow("enough");
  });

  it("says how far it is, never going back, in batches of 32 files", async () => {
    const folder = folderWith(
      Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`${at % 7}/${at}.txt`, "text"])),
    );
    const fractions: number[] = [];
    for await (const batch of archiveOf(folder).read(
      readOptions({
        known: () => false,
        force: false,
        signal: never,
      }),
    )) {
      expect(batch.items.length).toBeLessThanOrEqual(32);
      fractions.push(batch.fraction);
    }
    expect(fractions).toEqual([...fractions].sort((left, right) => left - right));
    expect(fractions).toHaveLength(10);
    expect(fractions.at(-1)).toBeCloseTo(0.9);
  });
});

/** Root may read everything, so a test run by root steps down meanwhile. */
function asNobody(): Disposable {
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(65_534);
  return { [Symbol.dispose]: () => void (root && process.seteuid?.(0)) };
}
