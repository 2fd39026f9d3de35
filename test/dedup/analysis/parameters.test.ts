import { describe, expect, it } from "vitest";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import {
  checkParameters,
  defaultParameters,
  parameterRanges,
  parametersFingerprint,
} from "../../../src/dedup/analysis/parameters.ts";
import type { AnalysisParameters } from "../../../src/dedup/analysis/parameters.ts";

function refusal(change: Partial<AnalysisParameters>): StewardError {
  try {
    checkParameters({ ...defaultParameters, ...change });
  } catch (error) {
    if (error instanceof StewardError) return error;
  }
  throw new Error(`${JSON.stringify(change)} was not refused`);
}

describe("the parameters", () => {
  it("are in order by default", () => {
    expect(() => checkParameters(defaultParameters)).not.toThrow();
  });

  it("are refused by name and range just outside of each range, and taken at its ends", () => {
    for (const [name, { least, most, whole }] of Object.entries(parameterRanges)) {
      const step = whole ? 1 : 0.001;
      for (const value of [
        least - step,
        most + step,
        Number.NaN,
        ...(whole ? [least + 0.5] : []),
      ]) {
        expect(refusal({ [name]: value })).toMatchObject({
          code: "invalid",
          field: name,
          message: expect.stringContaining(`${least} to ${most}`) as string,
        });
      }
    }
    expect(() =>
      checkParameters({
        ...defaultParameters,
        numPermutations: 1_024,
        numBands: 100,
        ngramSize: 10,
        minWords: 1,
        similarityThreshold: 1,
        fuzzySampleSize: 100,
      }),
    ).not.toThrow();
  });

  it("need a value for every band and weights that add up to 100", () => {
    expect(refusal({ numPermutations: 32, numBands: 33 })).toMatchObject({
      field: "numBands",
      message: expect.stringContaining("must not exceed numPermutations, 32") as string,
    });
    expect(refusal({ confidenceWeightJaccard: 50 })).toMatchObject({
      field: "confidenceWeightJaccard",
      message: expect.stringContaining("add up to 90") as string,
    });
  });

  it("report every finding at once", () => {
    expect(refusal({ numBands: 0, minWords: 0 }).details).toHaveLength(2);
  });

  it("name the signatures by what these depend on and by nothing else", () => {
    const name = (change: Partial<AnalysisParameters>): string =>
      Buffer.from(parametersFingerprint({ ...defaultParameters, ...change })).toString("hex");
    expect(parametersFingerprint(defaultParameters)).toHaveLength(32);
    for (const change of [{ numPermutations: 128 }, { numBands: 32 }, { ngramSize: 2 }])
      expect(name(change)).not.toBe(name({}));
    for (const change of [
      { similarityThreshold: 0.5 },
      { fuzzySampleSize: 500 },
      { minWords: 1 },
      { autoAnalyze: false },
      { discriminativePenaltyStrength: 0 },
    ])
      expect(name(change)).toBe(name({}));
  });
});
