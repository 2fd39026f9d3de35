import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mulberry32 } from "../../../bench/corpus.ts";
import { analyse } from "../../../src/dedup/analysis/engine.ts";
import type { AnalysisOutcome } from "../../../src/dedup/analysis/engine.ts";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import { createMemorySketchStore } from "../../../src/dedup/analysis/sketch-store.ts";
import { normalise } from "../../../workers/text/normalise.ts";
import { verifyPair } from "../../../workers/verify/pair-verifier.ts";
import { createTextFeatures } from "../../../workers/verify/text-features.ts";
import { createInlinePool } from "../inline-pool.ts";
import { textHash } from "../../workers/text/identity.ts";

const root = join(import.meta.dirname, "../../..");

/** Sections of this repository's own pages and sources, some of them edited or copied in part. */
function realTexts(): string[] {
  const random = mulberry32(18);
  const pick = (below: number): number => Math.floor(random() * below);
  const pieces = globSync(["docs/**/*.md", "src/dedup/**/*.ts", "LICENSE*"], { cwd: root })
    .sort()
    .flatMap((file) => readFileSync(join(root, file), "utf8").split(/\n(?=## |export function)/))
    .map(normalise)
    .filter((text) => text.split(" ").length >= 40);
  const edits = pieces.flatMap((text) => {
    const words = text.split(" ");
    const changed = (share: number): string =>
      Array.from({ length: Math.ceil(words.length * share) })
        .reduce<string[]>(
          (own) => own.with(pick(own.length), pieces[pick(pieces.length)]?.split(" ")[0] ?? "x"),
          words,
        )
        .join(" ");
    return random() < 0.5
      ? [changed(0.01 + random() * 0.1), words.slice(0, -pick(9) - 1).join(" ")]
      : [];
  });
  return [...new Set([...pieces, ...edits])];
}

async function run(texts: readonly string[]): Promise<AnalysisOutcome> {
  return await analyse({
    classes: texts.map((text, place) => ({
      hash: textHash(text),
      wordCount: text.split(" ").length,
      documents: [place],
    })),
    text: (indexes) => indexes.map((index) => Buffer.from(texts[index] ?? "")),
    sketches: createMemorySketchStore(),
    parameters: defaultParameters,
    pool: createInlinePool(),
    signal: new AbortController().signal,
    progress: () => undefined,
  });
}

describe("real texts", () => {
  const texts = realTexts();

  it("share a group for each true pair, with no false pair and no wrong score", async () => {
    const features = texts.map((text) => createTextFeatures(text, defaultParameters));
    const truth = new Map<string, number>();
    for (let a = 0; a < texts.length; a += 1)
      for (let b = a + 1; b < texts.length; b += 1) {
        const [one, other] = [features[a], features[b]];
        if (!one || !other) continue;
        const { confidence } = verifyPair(one, other, defaultParameters);
        if (!Number.isNaN(confidence)) truth.set(`${a} ${b}`, confidence);
      }
    expect(truth.size).toBeGreaterThan(100);
    const { texts: classes, vertices, stars } = await run(texts);
    const place = (vertex: number): number =>
      classes[vertices.textOf[vertex] ?? 0]?.documents[0] ?? -1;
    const shared = new Set<string>();
    for (const { centre, members } of stars) {
      for (const { vertex, scores } of members) {
        const [a = 0, b = 0] = [place(centre), place(vertex)].sort((x, y) => x - y);
        expect(truth.get(`${a} ${b}`)).toBe(scores.confidence);
      }
      const all = [centre, ...members.map(({ vertex }) => vertex)].map(place);
      for (const a of all) for (const b of all) if (a < b) shared.add(`${a} ${b}`);
    }
    const lost = [...truth.keys()].filter((pair) => !shared.has(pair));
    expect(lost.length).toBeLessThanOrEqual(truth.size / 1_000);
  });
});
