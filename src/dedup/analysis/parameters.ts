/** The settings of the analysis: defaults, ranges and the two halves they fall into. */
import { createHash } from "node:crypto";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Detail } from "../../kernel/base/errors.ts";
import { SIGNATURE_VERSION } from "../../../workers/parameters.ts";
import type { SignatureParameters } from "../../../workers/parameters.ts";
import type { FeatureParameters } from "../../../workers/verify/text-features.ts";
import type { ScoreParameters } from "../../../workers/score/confidence.ts";

/** All settings. The first half names the signatures, the second decides the edges. */
export interface AnalysisParameters extends SignatureParameters, ScoreParameters {
  /** Texts with fewer words are left out. */
  readonly minWords: number;
  /** Analyse after a sync that changed something. */
  readonly autoAnalyze: boolean;
}

/** Defaults. They are part of the API: a client that sets nothing gets these. */
export const defaultParameters: AnalysisParameters = {
  numPermutations: 256,
  numBands: 64,
  ngramSize: 3,
  minWords: 20,
  similarityThreshold: 0.75,
  confidenceWeightJaccard: 60,
  confidenceWeightFuzzy: 40,
  discriminativePenaltyStrength: 70,
  fuzzySampleSize: 10_000,
  autoAnalyze: true,
};

/** The parameters that are numbers. */
export type NumberName = Exclude<keyof AnalysisParameters, "autoAnalyze">;

/** The range of every number, both ends allowed. */
export const parameterRanges: Readonly<
  Record<NumberName, { readonly least: number; readonly most: number; readonly whole: boolean }>
> = {
  numPermutations: { least: 16, most: 1_024, whole: true },
  numBands: { least: 1, most: 1_024, whole: true },
  ngramSize: { least: 1, most: 10, whole: true },
  minWords: { least: 1, most: 1_000, whole: true },
  similarityThreshold: { least: 0, most: 1, whole: false },
  confidenceWeightJaccard: { least: 0, most: 100, whole: true },
  confidenceWeightFuzzy: { least: 0, most: 100, whole: true },
  discriminativePenaltyStrength: { least: 0, most: 100, whole: true },
  fuzzySampleSize: { least: 100, most: 100_000, whole: true },
};

/** A rule over several parameters that is broken, and the parameter to point at. */
export interface BrokenRule {
  readonly name: NumberName;
  /** Continues "numBands …". */
  readonly rule: string;
}

/** The rules that no parameter keeps alone. `shown` is what the reader calls a parameter. */
export function brokenRules(
  parameters: AnalysisParameters,
  shown: (name: NumberName) => string = (name) => name,
): readonly BrokenRule[] {
  const { numBands, numPermutations, confidenceWeightJaccard, confidenceWeightFuzzy } = parameters;
  const broken: BrokenRule[] = [];
  if (numBands > numPermutations)
    broken.push({
      name: "numBands",
      rule: `must not exceed ${shown("numPermutations")}, ${numPermutations}, and is ${numBands}`,
    });
  const sum = confidenceWeightJaccard + confidenceWeightFuzzy;
  if (sum !== 100)
    broken.push({
      name: "confidenceWeightJaccard",
      rule: `and ${shown("confidenceWeightFuzzy")} must add up to 100, and add up to ${sum}`,
    });
  return broken;
}

/** Throws `invalid` with one detail per finding, its message and field those of the first. */
export function checkParameters(parameters: AnalysisParameters): void {
  const findings = Object.keys(parameterRanges).flatMap((name) =>
    rangeFindings(name as NumberName, parameters),
  );
  findings.push(
    ...brokenRules(parameters).map(({ name, rule }) => ({
      path: [name],
      code: "custom",
      message: `${name} ${rule}`,
    })),
  );
  const [first] = findings;
  if (first)
    throw new StewardError("invalid", first.message, {
      field: String(first.path[0]),
      details: findings,
    });
}

function rangeFindings(name: NumberName, parameters: AnalysisParameters): Detail[] {
  const { least, most, whole } = parameterRanges[name];
  const value = parameters[name];
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return [];
  return [
    {
      path: [name],
      code: value < least ? "too_small" : "too_big",
      message: `${name} is ${value} but must be a ${whole ? "whole " : ""}number from ${least} to ${most}`,
    },
  ];
}

/** Only what a signature depends on, so that no more crosses threads. */
export function signatureParametersOf(parameters: SignatureParameters): SignatureParameters {
  const { numPermutations, numBands, ngramSize } = parameters;
  return { numPermutations, numBands, ngramSize };
}

/** Names everything that a signature depends on but the text: SHA-256, 32 bytes. */
export function parametersFingerprint(parameters: SignatureParameters): Uint8Array {
  return createHash("sha256")
    .update(JSON.stringify({ SIGNATURE_VERSION, ...signatureParametersOf(parameters) }))
    .digest();
}

/** Parameters that the cover phase reads. */
export type CoverParameters = ScoreParameters & FeatureParameters;

/** Only those parameters, so that no others are sent to a thread. */
export function coverParametersOf(parameters: CoverParameters): CoverParameters {
  const {
    ngramSize,
    fuzzySampleSize,
    similarityThreshold,
    confidenceWeightJaccard,
    confidenceWeightFuzzy,
    discriminativePenaltyStrength,
  } = parameters;
  return {
    ngramSize,
    fuzzySampleSize,
    similarityThreshold,
    confidenceWeightJaccard,
    confidenceWeightFuzzy,
    discriminativePenaltyStrength,
  };
}
