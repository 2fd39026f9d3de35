import { copyFileSync, linkSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
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
    const corpus = await readCorpus({
      archives,
      paths: [a, b],
      parameters,
      pool,
      texts: createKeptTexts({ folder: "/nonexistent" }),
      signal: new AbortController().signal,
      progress: () => undefined,
    });
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
