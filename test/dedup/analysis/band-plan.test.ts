import { describe, expect, it } from "vitest";
import { bandWarnings, planBands, shareFound } from "../../../src/dedup/analysis/band-plan.ts";
import { defaultParameters } from "../../../src/dedup/analysis/parameters.ts";
import type { AnalysisParameters } from "../../../src/dedup/analysis/parameters.ts";
import { jaccardFloor } from "../../../workers/score/confidence.ts";

function planned(change: Partial<AnalysisParameters>): AnalysisParameters {
  const parameters = { ...defaultParameters, ...change };
  return { ...parameters, numBands: planBands(parameters) };
}

describe("the number of bands", () => {
  it("is the default one at the default threshold", () => {
    expect(planned({})).toEqual(defaultParameters);
  });

  it.each<[number, number]>([
    [1, 1],
    [0.9, 32],
    [0.8, 51],
    [0.75, 64],
    [0.6, 128],
    [0.5, 256],
    [0.3, 256],
  ])("for a threshold of %d is %d", (similarityThreshold, numBands) => {
    expect(planned({ similarityThreshold }).numBands).toBe(numBands);
  });

  it("finds 99.9 % of the pairs at the floor wherever the values allow it, else warns", () => {
    for (const numPermutations of [16, 100, 256, 1_024])
      for (let threshold = 0; threshold <= 1; threshold += 0.05)
        for (const confidenceWeightJaccard of [0, 30, 60, 100]) {
          const parameters = planned({
            numPermutations,
            similarityThreshold: threshold,
            confidenceWeightJaccard,
            confidenceWeightFuzzy: 100 - confidenceWeightJaccard,
          });
          const { numBands } = parameters;
          expect(numBands).toBeGreaterThanOrEqual(1);
          expect(numBands).toBeLessThanOrEqual(numPermutations);
          const floor = Math.min(1, jaccardFloor(parameters));
          const enough = shareFound(floor, parameters) >= 0.999;
          expect(bandWarnings(parameters).length).toBe(enough ? 0 : 1);
          if (!enough) expect(numBands).toBe(numPermutations);
        }
  });

  it("never finds less with more values", () => {
    for (const similarityThreshold of [0.5, 0.6, 0.75, 0.9]) {
      const floor = jaccardFloor({ ...defaultParameters, similarityThreshold });
      const shares = [16, 64, 256, 1_024].map((numPermutations) =>
        shareFound(floor, planned({ similarityThreshold, numPermutations })),
      );
      for (const [at, share] of shares.entries())
        expect(Math.min(share, 0.999)).toBeGreaterThanOrEqual(Math.min(shares[at - 1] ?? 0, 0.999));
    }
  });

  it("that was set too low is warned about with the share it misses and the better number", () => {
    expect(bandWarnings({ ...defaultParameters, numBands: 32 })).toEqual([
      "of pairs with a Jaccard similarity of 0.583, which can still reach the threshold, 64.9 % are missed with 32 bands of 256 values; set numBands to 64",
    ]);
    expect(bandWarnings(planned({ numPermutations: 16, similarityThreshold: 0.6 }))[0]).toMatch(
      /are missed with 16 bands of 16 values; raise numPermutations/,
    );
  });
});
