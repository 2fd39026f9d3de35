/** The corpora of `bench/dedup.ts`: made up, near-identical, and real texts of this machine. */
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createCorpus, mulberry32 } from "./corpus.ts";

/** 20 % copies with up to 12 % of their words changed. */
export function syntheticTexts(documents: number): string[] {
  return createCorpus({
    documents,
    words: 300,
    seed: 1,
    edits: [0, 0.01, 0.02, 0.05, 0.08, 0.12],
  });
}

/** One text of 300 words, and copies of it with three words changed in each. */
export function nearIdenticalTexts(documents: number): string[] {
  const random = mulberry32(11);
  const [base = ""] = createCorpus({ documents: 1, words: 300, seed: 5 });
  const words = base.split(" ");
  return Array.from({ length: documents }, (_, number) => {
    const copy = [...words];
    for (let edit = 0; edit < 3; edit += 1)
      copy[Math.floor(random() * copy.length)] = `edit${number}x${edit}`;
    return copy.join(" ");
  });
}

/** What people write: documentation, licences, manuals, and sources with their comments. */
const PROSE =
  /(?:\.(?:md|markdown|txt|rst|adoc|html?|[1-8])|[1-8]\.gz|readme[^/]*|licen[cs]e[^/]*|copying[^/]*|notice[^/]*|authors[^/]*|copyright|changelog[^/]*|news[^/]*)$/i;
const SOURCE = /\.(?:py|go|d\.ts|h|pod|pm)$/i;
const ROOTS = [
  "/usr/share/doc",
  "/usr/share/man",
  "/usr/share/common-licenses",
  "/usr/share/perl",
  "/usr/local/go",
  "/usr/lib/go",
  "/usr/local/lib",
  "/usr/lib/python3",
  "/usr/include",
  "/usr/share",
];
const MIN_BYTES = 200;
const MAX_BYTES = 256 * 1024;
const MAX_FILES = 400_000;
/** Of one folder, so that one program with thousands of manual pages is not the whole corpus. */
const MAX_OF_FOLDER = 1_000;

/** Real texts and where they are from. */
export interface RealTexts {
  readonly texts: string[];
  /** Documents by root. */
  readonly sources: Readonly<Record<string, number>>;
}

/**
 * Up to `limit` texts found below `nodeModules`, Python's library and the usual folders of a Linux
 * system, in the order of their paths: the same machine gives the same texts.
 */
export function realTexts(
  limit: number,
  nodeModules: string,
  python: string | undefined,
): RealTexts {
  const texts: string[] = [];
  const sources: Record<string, number> = {};
  const seen = new Set<string>();
  const roots = [nodeModules, ...(python === undefined ? [] : [python]), ...ROOTS];
  for (const pattern of [PROSE, SOURCE])
    for (const root of roots)
      for (const file of filesBelow(root, pattern)) {
        if (texts.length >= limit) return { texts, sources };
        const real = realpathSync(file);
        if (seen.has(real)) continue;
        seen.add(real);
        const text = readText(real);
        if (text === undefined) continue;
        texts.push(text);
        sources[root] = (sources[root] ?? 0) + 1;
      }
  return { texts, sources };
}

function* filesBelow(root: string, pattern: RegExp): Generator<string> {
  const folders = [root];
  let files = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    let entries;
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch {
      continue;
    }
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries.toReversed())
      if (entry.isDirectory()) folders.push(join(folder, entry.name));
    const wanted = entries.filter((entry) => entry.isFile() && pattern.test(entry.name));
    for (const entry of wanted.slice(0, MAX_OF_FOLDER))
      if ((files += 1) < MAX_FILES) yield join(folder, entry.name);
  }
}

/** A file as text; undefined when it is too short, too long, or no UTF-8. */
function readText(file: string): string | undefined {
  try {
    if (statSync(file).size > MAX_BYTES) return undefined;
    const raw = readFileSync(file);
    const bytes = file.endsWith(".gz") ? gunzipSync(raw, { maxOutputLength: MAX_BYTES }) : raw;
    const text = bytes.length < MIN_BYTES ? "" : bytes.toString("utf8");
    if (text.includes("\ufffd") || text.includes("\0")) return undefined;
    return text.split(/\s+/, 25).length < 22 ? undefined : text;
  } catch {
    return undefined;
  }
}
