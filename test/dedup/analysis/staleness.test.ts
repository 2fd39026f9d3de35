import { describe, expect, it } from "vitest";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import type { AnalysisParameters } from "../../../src/dedup/analysis/parameters.ts";
import { analysisFingerprint, createStaleCheck } from "../../../src/dedup/analysis/staleness.ts";
import { setMetaText } from "../../../src/dedup/meta.ts";
import { openBench } from "../groups/bench.ts";

/** Checks parameters against groups made with the default ones, over no verdicts. */
async function check(
  change: Partial<AnalysisParameters>,
  { analysing = false, fingerprint = analysisFingerprint(defaultParameters) } = {},
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
        yield* [];
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
});
