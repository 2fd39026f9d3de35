import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  baseScore,
  confidence,
  fuzzyNeeded,
  jaccardFloor,
  type ScoreParameters,
} from "../../../workers/score/confidence.ts";

const defaults: ScoreParameters = {
  similarityThreshold: 0.75,
  confidenceWeightJaccard: 60,
  confidenceWeightFuzzy: 40,
  discriminativePenaltyStrength: 70,
  fuzzySampleSize: 10_000,
};
const share = fc.oneof(
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.constantFrom(0, 0.5, 0.75, 1),
  fc.nat(100).map((n) => n / 100),
);
const parameters: fc.Arbitrary<ScoreParameters> = fc.record({
  similarityThreshold: share,
  confidenceWeightJaccard: fc.nat(100),
  confidenceWeightFuzzy: fc.nat(100),
  discriminativePenaltyStrength: fc.nat(100),
  fuzzySampleSize: fc.constant(10_000),
});

describe("confidence", () => {
  it("leaves out a component without weight, and is 0 without any weight", () => {
    expect(
      baseScore(0.3, 0.9, { ...defaults, confidenceWeightJaccard: 0, confidenceWeightFuzzy: 100 }),
    ).toBe(0.9);
    expect(
      baseScore(0.3, 0.9, { ...defaults, confidenceWeightJaccard: 100, confidenceWeightFuzzy: 0 }),
    ).toBe(0.3);
    expect(
      baseScore(1, 1, { ...defaults, confidenceWeightJaccard: 0, confidenceWeightFuzzy: 0 }),
    ).toBe(0);
  });

  it("falls by the strength of the penalty", () => {
    expect(confidence(1, 1, 0, defaults)).toBeCloseTo(0.3, 15);
    expect(confidence(1, 1, 0, { ...defaults, discriminativePenaltyStrength: 0 })).toBe(1);
    expect(confidence(1, 1, 0, { ...defaults, discriminativePenaltyStrength: 100 })).toBe(0);
  });
});

describe("bounds", () => {
  it("put the least Jaccard similarity at .583 by default, and at 0 where the fuzzy ratio alone suffices", () => {
    expect(jaccardFloor(defaults)).toBeCloseTo(0.35 / 0.6, 10);
    expect(
      jaccardFloor({ ...defaults, confidenceWeightJaccard: 20, confidenceWeightFuzzy: 80 }),
    ).toBe(0);
    expect(
      jaccardFloor({ ...defaults, confidenceWeightJaccard: 0, confidenceWeightFuzzy: 100 }),
    ).toBe(0);
    expect(
      jaccardFloor({ ...defaults, confidenceWeightJaccard: 0, confidenceWeightFuzzy: 0 }),
    ).toBe(Number.POSITIVE_INFINITY);
  });

  it("ask for no ratio where any will do, and for more than 1 where none will", () => {
    expect(fuzzyNeeded(1, 1, { ...defaults, similarityThreshold: 0.5 })).toBe(0);
    expect(fuzzyNeeded(0.9, 1, defaults)).toBeCloseTo(0.21 / 0.4, 10);
    expect(fuzzyNeeded(0.5, 1, defaults)).toBeGreaterThan(1);
    expect(fuzzyNeeded(1, 0, { ...defaults, discriminativePenaltyStrength: 100 })).toBeGreaterThan(
      1,
    );
  });

  it("never turn away a pair that reaches the threshold, to the last digit of rounding", () => {
    fc.assert(
      fc.property(share, share, share, parameters, (jaccard, fuzzy, discriminative, parameters) => {
        const score = confidence(jaccard, fuzzy, discriminative, parameters);
        // The score itself as the threshold: the tightest case there is.
        for (const exact of [parameters, { ...parameters, similarityThreshold: score }]) {
          if (score < exact.similarityThreshold) continue;
          expect(jaccard).toBeGreaterThanOrEqual(jaccardFloor(exact));
          expect(fuzzy).toBeGreaterThanOrEqual(fuzzyNeeded(jaccard, discriminative, exact));
        }
      }),
      { numRuns: 5000 },
    );
  });

  it("turn away what clearly cannot reach it", () => {
    fc.assert(
      fc.property(share, share, parameters, (jaccard, discriminative, parameters) => {
        const needed = fuzzyNeeded(jaccard, discriminative, parameters);
        if (needed <= 1e-6 || !Number.isFinite(needed)) return;
        expect(confidence(jaccard, needed - 1e-6, discriminative, parameters)).toBeLessThan(
          parameters.similarityThreshold + 1e-12,
        );
      }),
      { numRuns: 2000 },
    );
  });
});
