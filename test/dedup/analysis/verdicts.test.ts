import { describe, expect, it } from "vitest";
import { createBreath } from "../../../src/dedup/analysis/breath.ts";
import { createClassIndex } from "../../../src/dedup/analysis/class-index.ts";
import type { ClassIndex } from "../../../src/dedup/analysis/class-index.ts";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import {
  createEnvVerdictStore,
  createMemorySketchStore,
  sketchTables,
} from "../../../src/dedup/analysis/sketch-store.ts";
import type { SketchStore } from "../../../src/dedup/analysis/sketch-store.ts";
import { readVerdicts } from "../../../src/dedup/analysis/verdict-block.ts";
import { MAX_KEPT_PAIRS, loadVerdicts } from "../../../src/dedup/analysis/verdicts.ts";
import type { Verdicts } from "../../../src/dedup/analysis/verdicts.ts";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import { openEnv, temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import { textHash } from "../../workers/text/identity.ts";

const TEXTS = 60;
const LIMIT = 500;

function indexOf(texts: number, name = "text"): ClassIndex {
  return createClassIndex(
    Array.from({ length: texts }, (_, text) => ({ hash: textHash(`${name} ${text}`) })),
  );
}

function scoresOf(a: number, b: number): PairScores {
  return {
    jaccard: 0.9 + (a + b) / 10_000,
    discriminative: 0.8,
    fuzzy: 0.9,
    confidence: 0.85,
  };
}

function load(store: SketchStore, index: ClassIndex, maxPairs?: number): Promise<Verdicts> {
  const breath = createBreath(new AbortController().signal);
  return loadVerdicts(store, {
    classIndex: index,
    parameters: defaultParameters,
    breath,
    ...(maxPairs !== undefined && { maxPairs }),
  });
}

/** Every pair of so many texts. */
function* pairs(texts = TEXTS): Generator<[number, number]> {
  for (let b = 1; b < texts; b += 1) for (let a = 0; a < b; a += 1) yield [a, b];
}

/** Verifies every pair that is not known, as a cover does, and answers how many these were. */
async function cover(verdicts: Verdicts): Promise<number> {
  let verified = 0;
  for (const [a, b] of pairs()) {
    if (verdicts.of(a, b)) continue;
    verdicts.note(a, b, scoresOf(a, b));
    verified += 1;
  }
  await verdicts.flush();
  return verified;
}

async function openStore(): Promise<SketchStore> {
  return createEnvVerdictStore(await openEnv(temporaryFolder(), { tables: sketchTables }));
}

async function rowsIn(store: SketchStore): Promise<number> {
  let rows = 0;
  for await (const buffer of store.peek()) rows += [...readVerdicts(buffer)].length;
  return rows;
}

/** The heap, what is garbage in it too, and what is beside it. */
function usedBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe("verdicts", () => {
  const all = [...pairs()].length;

  it("keep no more pairs than their limit, and know those again", async () => {
    const store = await openStore();
    const index = indexOf(TEXTS);
    const first = await load(store, index, LIMIT);
    expect(first.any).toBe(false);
    expect(await cover(first)).toBe(all);
    await first.end();
    expect(await rowsIn(store)).toBe(LIMIT);
    for (let run = 0; run < 3; run += 1) {
      const again = await load(store, index, LIMIT);
      expect(await cover(again)).toBe(all - LIMIT);
      await again.end();
      expect(await rowsIn(store)).toBe(LIMIT);
    }
  });

  it("make room for new pairs when those of the store are of no use any more", async () => {
    const store = await openStore();
    const first = await load(store, indexOf(TEXTS, "old"), LIMIT);
    await cover(first);
    await first.end();
    const index = indexOf(TEXTS, "new");
    const second = await load(store, index, LIMIT);
    expect(await cover(second)).toBe(all);
    await second.end();
    expect(await rowsIn(store)).toBe(LIMIT);
    expect(await cover(await load(store, index, LIMIT))).toBe(all - LIMIT);
  });

  it("keep the store bounded over analyses of other texts that are cut off", async () => {
    const store = await openStore();
    // A block is written once it is full, so these runs note more than one.
    const texts = 150;
    for (let run = 0; run < 8; run += 1) {
      const verdicts = await load(store, indexOf(texts, `run ${run}`), 10_000);
      for (const [a, b] of pairs(texts)) verdicts.note(a, b, scoresOf(a, b));
      await verdicts.flush();
      expect(await rowsIn(store)).toBeLessThanOrEqual(40_000);
    }
  });

  it("answer with the scores that were noted last", async () => {
    const store = await openStore();
    const index = indexOf(TEXTS);
    const first = await load(store, index);
    first.note(1, 2, { ...scoresOf(1, 2), fuzzy: Number.NaN, confidence: Number.NaN });
    first.note(2, 1, scoresOf(1, 2));
    expect(first.of(1, 2)).toMatchObject({ jaccard: 0.9003, fuzzy: 0.9 });
    await first.end();
    const again = await load(store, index);
    expect(again.of(2, 1)).toEqual(first.of(1, 2));
  });

  it("take less than 64 bytes a pair, up to the limit as shipped", async () => {
    const verdicts = await load(createMemorySketchStore(), indexOf(0));
    const before = usedBytes();
    const scores = scoresOf(0, 1);
    for (let pair = 0; pair <= MAX_KEPT_PAIRS; pair += 1)
      verdicts.note(pair % 4_096, 4_096 + Math.floor(pair / 4_096), scores);
    expect((usedBytes() - before) / MAX_KEPT_PAIRS).toBeLessThan(64);
    expect(verdicts.of(0, 4_096)).toBeDefined();
    expect(verdicts.of(4_095, 4_095 + MAX_KEPT_PAIRS / 4_096)).toBeDefined();
    expect(verdicts.of(0, 4_096 + MAX_KEPT_PAIRS / 4_096)).toBeUndefined();
  });
});
