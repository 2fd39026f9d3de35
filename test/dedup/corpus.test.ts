import type { BigIntStats } from "node:fs";
import { copyFileSync, linkSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Archive } from "../../src/dedup/archives/archive.ts";
import { readAlreadyBelow } from "../../src/dedup/archives/archive.ts";
import type { FileToClaim } from "../../src/dedup/archives/claims.ts";
import { openPath } from "../../src/dedup/archives/open.ts";
import { defaultParameters } from "../../src/dedup/analysis/parameters.ts";
import { readCorpus } from "../../src/dedup/corpus.ts";
import type { Corpus } from "../../src/dedup/corpus.ts";
import { createKeptTexts } from "../../src/dedup/kept-texts.ts";
import { readStoredText } from "../../src/dedup/stored-text.ts";
import { folderWith } from "./archives/reading.ts";
import { createInlinePool } from "./inline-pool.ts";

const parameters = {
  ...defaultParameters,
  minWords: 1,
  ngramSize: 1,
};
const pool = createInlinePool();

async function read(...paths: string[]): Promise<Corpus> {
  const archives = await Promise.all(
    paths.map((path) => openPath({ pool }, path, Readable.from([]))),
  );
  return await readArchives(archives, paths);
}

async function readArchives(
  archives: readonly Archive[],
  paths: readonly string[],
): Promise<Corpus> {
  return await readCorpus({
    archives,
    paths,
    parameters,
    pool,
    texts: createKeptTexts({ folder: "/nonexistent" }),
    signal: new AbortController().signal,
    progress: () => undefined,
  });
}

/** The part of a stat by which files are recognised. */
type Facts = Pick<BigIntStats, "dev" | "ino" | "nlink" | "size" | "mtimeNs" | "isFile">;

/** A folder of these files, each with one text, as the file system describes them. */
function claimingArchive(name: string, files: readonly FileToClaim[]): Archive {
  return {
    name,
    kind: "folder",
    check: () => Promise.resolve(),
    async *read({ claim }) {
      for (const file of files) {
        const ref = file.path.slice(1);
        const document = {
          kind: "document",
          ref,
          title: ref,
          version: "1",
          text: "one text",
          tags: [],
          notes: [],
        } as const;
        const item = claim?.(file) === false ? readAlreadyBelow(ref) : document;
        yield await Promise.resolve({ items: [item], fraction: 1 });
      }
    },
  };
}

function refsOf(corpus: Corpus): string[] {
  return Array.from({ length: corpus.size }, (_, number) => corpus.document(number).ref);
}

describe("documents of several paths", () => {
  it("are read once where a folder and a file in it are given, in either order", async () => {
    const folder = folderWith({ "a.txt": "one text", "b/c.txt": "another text" });
    const [a, c] = [join(folder, "a.txt"), join(folder, "b/c.txt")];
    const after = await read(folder, a);
    expect(refsOf(after)).toEqual([a, c]);
    expect(after.skipped(parameters)).toEqual({ "read already": 1 });
    expect(after.notes).toEqual([`${a}: was already read for an earlier path`]);
    const before = await read(a, folder);
    expect(refsOf(before)).toEqual([a, c]);
    expect(before.skipped(parameters)).toEqual({ "read already": 1 });
    expect(before.notes).toEqual([]);
  });

  it("are read once where one path is given twice, under whatever names", async () => {
    const folder = folderWith({ "real/a.txt": "one text", "real/b/c.txt": "another text" });
    symlinkSync(join(folder, "real"), join(folder, "link"));
    symlinkSync(join(folder, "real/a.txt"), join(folder, "other.txt"));
    const corpus = await read(
      join(folder, "real"),
      join(folder, "link"),
      join(folder, "real/b"),
      `${folder}/real/../link/a.txt`,
      join(folder, "other.txt"),
    );
    expect(refsOf(corpus)).toEqual([join(folder, "real/a.txt"), join(folder, "real/b/c.txt")]);
    expect(corpus.skipped(parameters)).toEqual({ "read already": 5 });
    expect(corpus.notes).toHaveLength(2);
  });

  it("stay two as copies and as hard links: either may go while the other stays", async () => {
    const folder = folderWith({ "a.txt": "one text" });
    linkSync(join(folder, "a.txt"), join(folder, "hard.txt"));
    copyFileSync(join(folder, "a.txt"), join(folder, "copy.txt"));
    const paths = ["a.txt", "hard.txt", "copy.txt"].map((name) => join(folder, name));
    const corpus = await read(...paths);
    expect(refsOf(corpus)).toEqual(paths);
    expect([corpus.skipped(parameters), corpus.notes]).toEqual([{}, []]);
  });

  it.each<[string, Partial<Facts>, Partial<Facts>, number]>([
    ["one file of a bind mount is one document", {}, {}, 1],
    ["two files are two", {}, { ino: 8n }, 2],
    [
      "inode numbers are compared to the last digit",
      { ino: 2n ** 60n },
      { ino: 2n ** 60n + 1n },
      2,
    ],
    ["two disks have two files of one inode number", {}, { dev: 2n }, 2],
    ["hard links are two", { nlink: 2n }, { nlink: 2n }, 2],
    ["a file system that counts no names has one of each", { nlink: 0n }, { nlink: 0n }, 1],
    ["a file system without inode numbers tells none", { ino: 0n }, { ino: 0n }, 2],
    ["an inode number that two files share tells none: by size", {}, { size: 2n }, 2],
    ["an inode number that two files share tells none: by time", {}, { mtimeNs: 2n }, 2],
    ["pipes are no files", { isFile: () => false }, { isFile: () => false }, 2],
  ])("behind several real paths: %s", async (_, first, second, documents) => {
    const facts: Facts = {
      dev: 1n,
      ino: 7n,
      nlink: 1n,
      size: 1n,
      mtimeNs: 1n,
      isFile: () => true,
    };
    const files: FileToClaim[] = [
      { path: "/real/a.txt", stats: { ...facts, ...first } as BigIntStats },
      { path: "/mounted/a.txt", stats: { ...facts, ...second } as BigIntStats },
    ];
    const one = await readArchives([claimingArchive("/", files)], ["/"]);
    expect(one.size).toBe(documents);
    const [real, mounted] = files.map((file) => claimingArchive("/", [file]));
    const two = await readArchives([real as Archive, mounted as Archive], ["/", "/"]);
    expect(two.size).toBe(documents);
  });

  it("of a hard-linked file are as many as it has names, however many paths it has", async () => {
    const stats = { dev: 1n, ino: 7n, nlink: 2n, size: 1n, mtimeNs: 1n, isFile: () => true };
    const files = ["/a", "/b", "/mounted/a", "/mounted/b"].map((path) => ({
      path,
      stats: stats as BigIntStats,
    }));
    const corpus = await readArchives([claimingArchive("/", files)], ["/"]);
    expect(refsOf(corpus)).toEqual(["/a", "/b"]);
  });

  it("of a hard-linked file are one where a bind mount shows one name twice", async () => {
    const stats = { dev: 1n, ino: 7n, nlink: 2n, size: 1n, mtimeNs: 1n, isFile: () => true };
    const files = [
      ["/real/a", 5n],
      ["/mounted/a", 5n],
      ["/elsewhere/a", 6n],
    ] as const;
    const claimed = files.map(([path, ino]) => ({
      path,
      stats: stats as BigIntStats,
      folder: { dev: 1n, ino },
    }));
    const corpus = await readArchives([claimingArchive("/", claimed)], ["/"]);
    expect(refsOf(corpus)).toEqual(["/real/a", "/elsewhere/a"]);
  });

  it("are read once where they are lines of a file that is given twice", async () => {
    const folder = folderWith({
      "l.jsonl": '{"id":"x","content":"one text"}\n{"id":"y","content":"another"}\n',
    });
    const path = join(folder, "l.jsonl");
    const corpus = await read(folder, path, path);
    expect(refsOf(corpus)).toEqual(["x", "y"]);
    expect(corpus.skipped(parameters)).toEqual({ "JSON Lines": 1, "read already": 1 });
    expect(corpus.notes).toEqual([`${path}: was already read for an earlier path`]);
  });

  it("of several files of lines are named by file and id, of one by id", async () => {
    const folder = folderWith({
      "a.jsonl": '{"text":"one text"}\n{"text":"another text","title":"Titled"}\n',
      "b.jsonl": '{"text":"a third text"}\n',
    });
    const [a, b] = [join(folder, "a.jsonl"), join(folder, "b.jsonl")];
    const corpus = await read(a, b);
    expect(refsOf(corpus)).toEqual([`${a}:1`, `${a}:2`, `${b}:1`]);
    expect([0, 1].map((number) => corpus.document(number).title)).toEqual([`${a}:1`, "Titled"]);
    expect(refsOf(await read(a))).toEqual(["1", "2"]);
  });

  it("name a file that vanished before its turn", async () => {
    const folder = folderWith({ "a.txt": "one text", "b.txt": "another" });
    const [a, b] = [join(folder, "a.txt"), join(folder, "b.txt")];
    const archives = await Promise.all(
      [a, b].map((path) => openPath({ pool }, path, Readable.from([]))),
    );
    rmSync(b);
    const corpus = await readArchives(archives, [a, b]);
    expect([refsOf(corpus), corpus.notes]).toEqual([
      [a],
      [`${b}: vanished while the archive was read`],
    ]);
  });
});

describe("a text that is cut", () => {
  const head = "word ".repeat(110_000);

  it("is not identical to another one with the same beginning, be it a line, a file or packed", async () => {
    const folder = folderWith({
      "a.txt": `${head} one end`,
      "b.txt": `${head} another end`,
      "c.txt": `${head} one end`,
    });
    for (const name of ["a", "b"])
      writeFileSync(
        join(folder, `${name}.log.gz`),
        gzipSync(`${"word ".repeat(500_000)} the end of ${name}`),
      );
    const lines = join(folderWith({}), "lines.jsonl");
    writeFileSync(
      lines,
      ["one", "two", "one"]
        .map((end, id) => JSON.stringify({ id, content: `${head} line ${end}` }))
        .join("\n"),
    );
    const inFolder = await read(folder);
    expect(inFolder.notes.join("\n")).toContain("truncated to 500,000 characters");
    const refs = (corpus: Corpus): string[][] =>
      corpus.classifier.classes.map(({ documents }) =>
        documents.map((number) => corpus.document(number).ref.slice(folder.length + 1)),
      );
    expect(refs(inFolder)).toEqual([["a.log.gz"], ["a.txt", "c.txt"], ["b.log.gz"], ["b.txt"]]);
    const inLines = await read(lines);
    expect(inLines.classifier.classes.map(({ documents }) => documents)).toEqual([[0, 2], [1]]);
  });
});

it("gives back the texts of packed files from the temporary file", async () => {
  const folder = folderWith({ "a.txt": "a plain text", "b.txt.gz": gzipSync("a packed text") });
  const texts = createKeptTexts({ folder, memoryBytes: 0 });
  onTestFinished(() => texts.close());
  const archives = [await openPath({ pool }, folder, Readable.from([]))];
  const corpus = await readCorpus({
    archives,
    paths: [folder],
    parameters,
    signed: () => Promise.resolve(),
    pool,
    texts,
    signal: new AbortController().signal,
    progress: () => undefined,
  });
  expect(refsOf(corpus).map((ref) => basename(ref))).toEqual(["a.txt", "b.txt.gz"]);
  expect([0, 1].map((number) => readStoredText(corpus.text(number) ?? new Uint8Array()))).toEqual([
    "a plain text",
    "a packed text",
  ]);
  expect(readdirSync(folder)).toEqual(["a.txt", "b.txt.gz"]);
});
