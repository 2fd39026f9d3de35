/** The cover beside a thread that has other work, and over verdicts that are not all there. */
import { describe, expect, it } from "vitest";
import { createBreath } from "../../../src/dedup/analysis/breath.ts";
import { createClassIndex } from "../../../src/dedup/analysis/class-index.ts";
import { coverAll } from "../../../src/dedup/analysis/cover-phase.ts";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import { createEnvVerdictStore, sketchTables } from "../../../src/dedup/analysis/sketch-store.ts";
import type { CoverDeps } from "../../../src/dedup/analysis/star.ts";
import { createNoVerdicts, loadVerdicts } from "../../../src/dedup/analysis/verdicts.ts";
import type { Verdicts } from "../../../src/dedup/analysis/verdicts.ts";
import { vertexSteps } from "../../../src/dedup/groups/vertices.ts";
import type { VertexGraph } from "../../../src/dedup/groups/vertices.ts";
import type { Pool } from "../../../src/kernel/pool/types.ts";
import { createCorpus } from "../../../bench/corpus.ts";
import type { CoverInput, CoverOutput } from "../../../workers/tasks/cover.ts";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import { compressText } from "../../../workers/text/compress.ts";
import { normalise } from "../../../workers/text/normalise.ts";
import { textHash } from "../../workers/text/identity.ts";
import { openEnv, temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import { createInlinePool } from "../inline-pool.ts";

const { signal } = new AbortController();
const FAILED: PairScores = {
  jaccard: 0.9,
  discriminative: 0,
  fuzzy: Number.NaN,
  confidence: Number.NaN,
};
/** A few milliseconds of them. */
const MAX_LOOKUPS_IN_A_TURN = 15_000;

/** Every two of `count` texts are candidates: bills of one layout. */
function complete(count: number): VertexGraph {
  const starts = new Uint32Array(count + 1);
  const highs: number[] = [];
  for (let low = 0; low < count; low += 1) {
    for (let high = low + 1; high < count; high += 1) highs.push(high);
    starts[low + 1] = highs.length;
  }
  const steps = vertexSteps({
    documents: Array.from({ length: count }, (_, text) => [text]),
    pairs: { starts, highs: Uint32Array.from(highs), equal: new Uint16Array(highs.length) },
    rejections: [],
    strongFrom: 1,
  });
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

function depsOf(count: number, deps: Pick<CoverDeps, "verdicts" | "pool">): CoverDeps {
  return {
    ...deps,
    vertices: complete(count),
    wordCount: () => 300,
    text: (texts) => texts.map(() => new Uint8Array(1)),
    parameters: defaultParameters,
    signal,
    progress: () => undefined,
  };
}

/** A pool in which no pair passes that was not known. */
const failing: Pool = {
  ...createInlinePool(),
  async *map(_task, inputs) {
    for await (const input of inputs) yield verified(input as CoverInput) as never;
  },
};

function verified({ graph: { weights }, known }: CoverInput): CoverOutput {
  const before = new Set(known?.pairs);
  const pairs = Uint32Array.from(weights.keys()).filter((pair) => !before.has(pair));
  const column = (score: number): Float64Array<ArrayBuffer> =>
    new Float64Array(pairs.length).fill(score);
  const scores = {
    jaccard: column(0.9),
    discriminative: column(0),
    fuzzy: column(Number.NaN),
    confidence: column(Number.NaN),
  };
  return { stars: new Uint32Array(0), pairs, scores };
}

interface Counts {
  total: number;
  /** In one turn of the event loop. */
  most: number;
  verified: number;
}

/** Covers `count` texts of which all pairs that are known fail; counts uses of the verdicts. */
async function count(texts: number, isKnown: (a: number, b: number) => boolean): Promise<Counts> {
  const counts = { total: 0, most: 0, verified: 0 };
  let inTurn = 0;
  const step = (): void => {
    counts.total += 1;
    inTurn += 1;
    counts.most = Math.max(counts.most, inTurn);
  };
  const verdicts: Verdicts = {
    ...createNoVerdicts(),
    any: true,
    of(a, b) {
      step();
      return isKnown(a, b) ? FAILED : undefined;
    },
    note: step,
  };
  const deps = depsOf(texts, { verdicts, pool: failing });
  let turn = setImmediate(function next() {
    inTurn = 0;
    turn = setImmediate(next);
  });
  const { stars, verified: own } = await coverAll(deps);
  clearImmediate(turn);
  expect(stars).toEqual([]);
  return { ...counts, verified: own };
}

describe("the thread that covers", () => {
  it.each([
    { texts: 700, what: "one small component" },
    { texts: 1_100, what: "one large component" },
  ])("does other work while it covers $what from verdicts", async ({ texts }) => {
    const { total, most, verified: own } = await count(texts, () => true);
    expect(own).toBe(0);
    expect(total).toBe((texts * (texts - 1)) / 2);
    expect(most).toBeLessThanOrEqual(MAX_LOOKUPS_IN_A_TURN);
  });

  it("does other work while it tells the pool what is known, and takes what the pool found", async () => {
    const some = await count(700, (a, b) => a + b !== 1_397);
    expect(some.verified).toBe(1);
    expect(some.most).toBeLessThanOrEqual(MAX_LOOKUPS_IN_A_TURN);
    const none = await count(700, () => false);
    expect(none.verified).toBe((700 * 699) / 2);
    expect(none.most).toBeLessThanOrEqual(MAX_LOOKUPS_IN_A_TURN);
  });
});

it.each([0, 1, 40, 200, 4_000_000])(
  "finds the same groups whatever verdicts keep, here %i pairs",
  async (maxPairs) => {
    const texts = [
      ...new Set(createCorpus({ documents: 90, words: 60, seed: 11, copies: 0.9 }).map(normalise)),
    ];
    const store = createEnvVerdictStore(await openEnv(temporaryFolder(), { tables: sketchTables }));
    const classIndex = createClassIndex(texts.map((text) => ({ hash: textHash(text) })));
    const breath = createBreath(signal);
    const run = async (verdicts: Verdicts): ReturnType<typeof coverAll> => {
      const result = await coverAll({
        ...depsOf(texts.length, { verdicts, pool: createInlinePool() }),
        text: (own) => own.map((text) => compressText(texts[text] ?? "", 1)),
      });
      await verdicts.end();
      return result;
    };
    const { stars, verified: all } = await run(createNoVerdicts());
    expect(stars.length).toBeGreaterThan(5);
    for (let round = 0; round < 3; round += 1) {
      const verdicts = await loadVerdicts(store, {
        classIndex,
        parameters: defaultParameters,
        breath,
        maxPairs,
      });
      const again = await run(verdicts);
      expect(again.stars).toEqual(stars);
      expect(again.verified).toBe(round === 0 ? all : Math.max(0, all - maxPairs));
    }
  },
);
