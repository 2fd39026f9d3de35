import assert from "node:assert/strict";
import { describe, expect, it } from "vitest";
import { createBreath } from "../../../src/dedup/analysis/breath.ts";
import { createClassIndex } from "../../../src/dedup/analysis/class-index.ts";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import type { AnalysisParameters } from "../../../src/dedup/analysis/parameters.ts";
import { analysisFingerprint, createStaleCheck } from "../../../src/dedup/analysis/staleness.ts";
import { createMemorySketchStore } from "../../../src/dedup/analysis/sketch-store.ts";
import { MAX_KEPT_PAIRS, loadVerdicts } from "../../../src/dedup/analysis/verdicts.ts";
import { setMetaText } from "../../../src/dedup/meta.ts";
import { textHash } from "../../workers/text/identity.ts";
import { openBench } from "../groups/bench.ts";

/** Checks parameters against groups made with the default ones, over blocks of verdicts. */
async function check(
  change: Partial<AnalysisParameters>,
  {
    analysing = false,
    fingerprint = analysisFingerprint(defaultParameters),
    blocks = [] as readonly ArrayBuffer[],
  } = {},
): Promise<{ stale: boolean; peeks: number }> {
  const bench = await openBench();
  const { env } = bench;
  if (fingerprint !== "")
    await env.write((tx) => setMetaText(tx, "analysisFingerprint", fingerprint));
  let peeks = 0;
  const stale = createStaleCheck({
    env,
    verdicts: {
      async *peek() {
        peeks += 1;
        yield* blocks;
      },
    },
    parameters: () => ({ ...defaultParameters, ...change }),
    analysing: () => analysing,
    signal: new AbortController().signal,
  });
  await stale();
  const answer = { stale: await stale(), peeks };
  await bench.close();
  return answer;
}

const BLOCK_ROWS = 8_192;

/** A block of verdicts that no penalty changes. */
async function block(): Promise<ArrayBuffer> {
  const texts = Array.from({ length: 2 * BLOCK_ROWS }, (_, text) => ({
    hash: textHash(`text ${text}`),
  }));
  const saved: ArrayBuffer[] = [];
  const verdicts = await loadVerdicts(
    {
      ...createMemorySketchStore(),
      save(buffer) {
        saved.push(buffer);
        return Promise.resolve(saved.length);
      },
    },
    {
      classIndex: createClassIndex(texts),
      parameters: defaultParameters,
      breath: createBreath(new AbortController().signal),
    },
  );
  for (let pair = 0; pair < BLOCK_ROWS; pair += 1)
    verdicts.note(2 * pair, 2 * pair + 1, {
      jaccard: 0.2,
      discriminative: Number.NaN,
      fuzzy: Number.NaN,
      confidence: Number.NaN,
    });
  await verdicts.end();
  const [only] = saved;
  assert(only !== undefined && saved.length === 1);
  return only;
}

describe("stored groups", () => {
  it("are not stale before the first analysis, with the same parameters, or for autoAnalyze", async () => {
    const fresh = { stale: false, peeks: 0 };
    expect(await check({ minWords: 5 }, { fingerprint: "" })).toEqual(fresh);
    expect(await check({})).toEqual(fresh);
    expect(await check({ autoAnalyze: false })).toEqual(fresh);
  });

  it.each<Partial<AnalysisParameters>>([
    { numPermutations: 128 },
    { numBands: 32 },
    { ngramSize: 4 },
    { minWords: 5 },
    { similarityThreshold: 0.8 },
    { fuzzySampleSize: 500 },
    { confidenceWeightJaccard: 70, confidenceWeightFuzzy: 30 },
  ])("are stale for %o, whatever the verdicts say", async (change) => {
    expect(await check(change)).toEqual({ stale: true, peeks: 0 });
  });

  it("are stale when another version made them", async () => {
    expect(await check({}, { fingerprint: '{"ALGORITHM_VERSION":"0"}' })).toMatchObject({
      stale: true,
    });
  });

  it("are asked of the verdicts once when only the penalty differs, and not beside an analysis", async () => {
    const penalty = { discriminativePenaltyStrength: 50 };
    // Without a verdict nothing is known.
    expect(await check(penalty)).toEqual({ stale: true, peeks: 1 });
    expect(await check(penalty, { analysing: true })).toEqual({ stale: true, peeks: 0 });
  });

  it("may be stale for another penalty when as many verdicts are stored as are kept", async () => {
    const penalty = { discriminativePenaltyStrength: 50 };
    const own = await block();
    const most = MAX_KEPT_PAIRS / BLOCK_ROWS;
    const blocks = Array.from({ length: most }, () => own);
    expect(await check(penalty, { blocks: blocks.slice(1) })).toEqual({ stale: false, peeks: 1 });
    expect(await check(penalty, { blocks })).toEqual({ stale: true, peeks: 1 });
  });
});
