/** The options that set parameters of the analysis, with the ranges of the API's settings. */
import type { NumberName } from "../../dedup/analysis/parameters.ts";
import type { NumberRange, OptionTable, ParsedOptions } from "../options.ts";

interface ParameterOption extends NumberRange {
  readonly name: NumberName;
}

/** By option, without dashes. */
export const parameterOptions: Readonly<Record<string, ParameterOption>> = {
  threshold: { name: "similarityThreshold", from: 0, to: 1, whole: false },
  "min-words": { name: "minWords", from: 1, to: 1000, whole: true },
  ngram: { name: "ngramSize", from: 1, to: 10, whole: true },
  "jaccard-weight": { name: "confidenceWeightJaccard", from: 0, to: 100, whole: true },
  "fuzzy-weight": { name: "confidenceWeightFuzzy", from: 0, to: 100, whole: true },
  "fuzzy-sample": { name: "fuzzySampleSize", from: 100, to: 100_000, whole: true },
  penalty: { name: "discriminativePenaltyStrength", from: 0, to: 100, whole: true },
  permutations: { name: "numPermutations", from: 16, to: 1024, whole: true },
  bands: { name: "numBands", from: 1, to: 1024, whole: true },
};

/** The same as rows of a command's option table. */
export const parameterTable: OptionTable = Object.fromEntries(
  Object.entries(parameterOptions).map(([option, { from, to, whole }]) => [
    option,
    { value: { from, to, whole } },
  ]),
);

/** The parameters that were given. */
export function parameterArguments({
  numbers,
}: ParsedOptions): Partial<Readonly<Record<NumberName, number>>> {
  return Object.fromEntries(
    Object.entries(parameterOptions).flatMap(([option, { name }]) => {
      const value = numbers.get(option);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
