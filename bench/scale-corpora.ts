/** The corpora of `bench/scale.ts` as JSONL files, written once and kept in a folder. */
import { createReadStream, createWriteStream, existsSync, mkdirSync, renameSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { createCorpus, mulberry32 } from "./corpus.ts";

/** Kept between runs: a million documents are 2 GB. */
const FOLDER = join(tmpdir(), "steward-bench-scale");
/** Raised when a corpus changes. */
const VERSION = 1;
/** Texts that are made at once. */
const CHUNK = 10_000;

/** The path of a file, which is made unless it is there. */
async function keep(name: string, make: (path: string) => Promise<void>): Promise<string> {
  mkdirSync(FOLDER, { recursive: true });
  const path = join(FOLDER, `v${VERSION}-${name}`);
  if (existsSync(path)) return path;
  await make(`${path}.part`);
  renameSync(`${path}.part`, path);
  return path;
}

async function keepLines(name: string, texts: () => Iterable<string>): Promise<string> {
  function* lines(): Generator<string> {
    let id = 0;
    for (const content of texts()) yield `${JSON.stringify({ id: `${(id += 1)}`, content })}\n`;
  }
  return await keep(`${name}.jsonl`, (path) =>
    pipeline(Readable.from(lines()), createWriteStream(path)),
  );
}

/** Texts of about `words` words: a fifth are edited copies. */
export async function syntheticLines(documents: number, words: number): Promise<string> {
  return await keepLines(`synthetic-${documents}x${words}`, function* texts() {
    for (let at = 0; at < documents; at += CHUNK)
      yield* createCorpus({
        documents: Math.min(CHUNK, documents - at),
        words,
        seed: 1 + at,
        edits: [0, 0.01, 0.02, 0.05, 0.08, 0.12],
      });
  });
}

/** A file under zstd. */
export async function compressed(file: string): Promise<string> {
  return await keep(`${file.split(/v\d+-/).at(-1) ?? ""}.zst`, (path) =>
    pipeline(createReadStream(file), createZstdCompress(), createWriteStream(path)),
  );
}

/** Bills of one layout and 300 words that differ in three to ten of them. */
export function bills(documents: number): string[] {
  const random = mulberry32(21);
  const [layout = ""] = createCorpus({ documents: 1, words: 300, seed: 22 });
  const words = layout.split(" ");
  return Array.from({ length: documents }, (_, number) => {
    const bill = [...words];
    const changes = 3 + Math.floor(random() * 8);
    for (let change = 0; change < changes; change += 1)
      bill[Math.floor(random() * bill.length)] = `bill${number}n${change}`;
    return bill.join(" ");
  });
}

/** One first page of 250 words, followed by 100 to 300 words of each document's own. */
export function sameFirstPage(documents: number): string[] {
  const [page = ""] = createCorpus({ documents: 1, words: 250, seed: 23 });
  const rest = createCorpus({ documents, words: 200, seed: 24, copies: 0.1 });
  return rest.map((text) => `${page} ${text}`);
}

/** One text of 300 words with three words changed in each copy. */
export function nearIdentical(documents: number): string[] {
  const random = mulberry32(25);
  const [base = ""] = createCorpus({ documents: 1, words: 300, seed: 26 });
  const words = base.split(" ");
  return Array.from({ length: documents }, (_, number) => {
    const copy = [...words];
    for (let edit = 0; edit < 3; edit += 1)
      copy[Math.floor(random() * copy.length)] = `edit${number}n${edit}`;
    return copy.join(" ");
  });
}

/** Lines of texts that are made when they are needed. */
export async function linesOf(name: string, texts: () => Iterable<string>): Promise<string> {
  return await keepLines(name, texts);
}
