import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { inventArchive, type DemoFile } from "../../src/demo/archive.ts";
import { writeDemoArchive } from "../support/demo-archive.ts";
import { confidence } from "../../workers/score/confidence.ts";
import { discriminativeScore } from "../../workers/score/discriminative.ts";
import { fuzzyRatio, wordSorted } from "../../workers/score/fuzzy.ts";
import { jaccardAtLeast } from "../../workers/score/jaccard.ts";
import { tokensOf } from "../../workers/score/tokens.ts";
import { normalise } from "../../workers/text/normalise.ts";
import { countWords, shingleSet } from "../workers/text/identity.ts";

const defaults = {
  similarityThreshold: 0.75,
  confidenceWeightJaccard: 60,
  confidenceWeightFuzzy: 40,
  discriminativePenaltyStrength: 70,
  fuzzySampleSize: 10_000,
};
/** Below it no pair reaches the threshold. */
const FLOOR = (0.75 - 0.4) / 0.6;

function readable(file: DemoFile): string {
  const text = file.path.endsWith(".html")
    ? file.text
        .replace(/<head>.*<\/head>/s, "")
        .replaceAll(/<[^>]*>/g, " ")
        .replaceAll("&amp;", "&")
    : file.text;
  return normalise(text);
}

function scoreAll(files: readonly DemoFile[]): { found: Map<string, number>; unrelated: number } {
  const documents = files
    .map((file) => ({ path: file.path, text: readable(file) }))
    .map(({ path, text }) => ({ path, text, shingles: shingleSet(text, 3) }));
  const found = new Map<string, number>();
  let unrelated = 0;
  for (const [index, a] of documents.entries()) {
    for (const b of documents.slice(index + 1)) {
      const jaccard = jaccardAtLeast(a.shingles, b.shingles, 0);
      if (jaccard < FLOOR) {
        unrelated = Math.max(unrelated, jaccard);
        continue;
      }
      const score = confidence(
        jaccard,
        fuzzyRatio(wordSorted(a.text), wordSorted(b.text)),
        discriminativeScore(tokensOf(a.text), tokensOf(b.text)),
        defaults,
      );
      found.set(keyOf(a.path, b.path), score);
    }
  }
  return { found, unrelated };
}

function keyOf(a: string, b: string): string {
  return [a, b].toSorted().join(" = ");
}

const folders: string[] = [];
afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "steward-demo-")));
  folders.push(folder);
  return folder;
}

describe.each([1, 2, 8400])("the archive of seed %i", (seed) => {
  const { files, truth } = inventArchive({ seed });
  const { found, unrelated } = scoreAll(files);

  it("has some 260 documents of 100 to 500 words in three formats", () => {
    expect(files).toHaveLength(260);
    const words = files.map((file) => countWords(readable(file))).toSorted((a, b) => a - b);
    expect(words[0]).toBeGreaterThanOrEqual(90);
    expect(words.at(-1)).toBeLessThanOrEqual(500);
    for (const ending of [".txt", ".md", ".html"])
      expect(files.filter((file) => file.path.endsWith(ending)).length).toBeGreaterThan(20);
    expect(new Set(files.map((file) => file.path)).size).toBe(files.length);
  });

  it("is found by the score just as it was planted: every copy and nothing else", () => {
    const planted = truth.pairs.map((pair) => keyOf(pair.a, pair.b)).toSorted();
    expect(
      [...found]
        .filter(([, score]) => score >= 0.75)
        .map(([key]) => key)
        .toSorted(),
    ).toEqual(planted);
    for (const kind of ["exact", "edited", "rescan"])
      expect(truth.pairs.filter((pair) => pair.kind === kind).length).toBeGreaterThanOrEqual(10);
  });

  it("keeps a clear distance on both sides of the threshold", () => {
    const copies = new Set(truth.pairs.map((pair) => keyOf(pair.a, pair.b)));
    expect(
      Math.min(...[...found].filter(([key]) => copies.has(key)).map(([, score]) => score)),
    ).toBeGreaterThan(0.78);
    expect(
      Math.max(...[...found].filter(([key]) => !copies.has(key)).map(([, score]) => score)),
    ).toBeLessThan(0.6);
  });

  it("has bills that only their figures keep apart, and otherwise texts that share little", () => {
    expect(truth.siblings.map((bills) => bills.length)).toEqual([12, 12, 12, 12, 12]);
    for (const [first, second] of truth.siblings)
      expect(found.get(keyOf(first ?? "", second ?? ""))).toBeDefined();
    expect(unrelated).toBeLessThan(0.45);
  });
});

describe("inventing", () => {
  it("gives the same for the same seed, and something else for another", () => {
    expect(inventArchive({ seed: 5, documents: 60 })).toEqual(
      inventArchive({ seed: 5, documents: 60 }),
    );
    expect(inventArchive({ seed: 5, documents: 60 }).files[0]?.text).not.toBe(
      inventArchive({ seed: 6, documents: 60 }).files[0]?.text,
    );
  });

  it.each([40, 100, 1000])("makes %i documents when asked", (documents) => {
    expect(inventArchive({ seed: 1, documents }).files).toHaveLength(documents);
  });

  it.each([39, 10_001, 50.5])("refuses %d documents", (documents) => {
    expect(() => inventArchive({ seed: 1, documents })).toThrow("40 to 10,000");
  });

  it("leaves no name of a rule and no broken word in a text", () => {
    for (const { text, path } of inventArchive({ seed: 3, documents: 400 }).files) {
      expect([path, /[{}]|undefined|NaN|\[object/.exec(text)?.[0]]).toEqual([path, undefined]);
      expect(path).toMatch(/^[a-z]+\/[a-z0-9-]+\.(txt|md|html)$/);
    }
  });
});

describe("writing", () => {
  it("puts every file there once, dated as its document, and a second time changes nothing", async () => {
    const folder = temporaryFolder();
    const truth = await writeDemoArchive(join(folder, "new/archive"), { seed: 1, documents: 60 });
    const listed = (): string[] =>
      readdirSync(join(folder, "new/archive"), { recursive: true, encoding: "utf8" })
        .filter((name) => name.includes("."))
        .toSorted();
    expect(listed()).toEqual([...truth.files].toSorted());
    const state = (): unknown[] =>
      truth.files.map((file) => [
        statSync(join(folder, "new/archive", file)).ino,
        statSync(join(folder, "new/archive", file)).mtimeMs,
      ]);
    const before = state();
    expect(
      new Date(statSync(join(folder, "new/archive", truth.files[0] ?? "")).mtimeMs).getFullYear(),
    ).toBeLessThan(2026);
    expect(await writeDemoArchive(join(folder, "new/archive"), { seed: 1, documents: 60 })).toEqual(
      truth,
    );
    expect(state()).toEqual(before);
    expect(statSync(join(folder, "new/archive")).mode & 0o777).toBe(0o700);
  });

  it("mends a file that was changed", async () => {
    const folder = temporaryFolder();
    const { files } = await writeDemoArchive(folder, { seed: 1, documents: 40 });
    const first = join(folder, files[0] ?? "");
    const whole = readFileSync(first, "utf8");
    writeFileSync(first, whole.slice(0, 10));
    await writeDemoArchive(folder, { seed: 1, documents: 40 });
    expect(readFileSync(first, "utf8")).toBe(whole);
  });

  it("does not follow a link out of its folder", async () => {
    const [folder, elsewhere] = [temporaryFolder(), temporaryFolder()];
    symlinkSync(elsewhere, join(folder, "bills"));
    await expect(writeDemoArchive(folder, { seed: 1, documents: 40 })).rejects.toThrow(
      "bills lies inside the demo's archive",
    );
    expect(readdirSync(elsewhere)).toEqual([]);
  });
});
