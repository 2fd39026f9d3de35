/**
 * The analysis parameters as run-time settings: one row each, read by the file, the environment and
 * the API alike. An analysis takes them once, at its start.
 */
import type { Log } from "../../kernel/base/log.ts";
import type { Config } from "../../kernel/config/config.ts";
import { defineKey, type Key, type Schema } from "../../kernel/config/key.ts";
import type { Check } from "../../kernel/config/load.ts";
import { boolean, decimal, integer } from "../../kernel/config/values/types.ts";
import type { ReadSetting, Settings, SettingsCheck } from "../../kernel/settings/types.ts";
import { planBands } from "./band-plan.ts";
import {
  brokenRules,
  defaultParameters,
  parameterRanges,
  type AnalysisParameters,
  type NumberName,
} from "./parameters.ts";

/** What the settings' paths begin with. */
export const ANALYSIS_SCOPE = "dedup.analysis";

/** The value of the setting that leaves the number of bands to the planner. */
const PLANNED_BANDS = 0;

const help: Readonly<Record<keyof AnalysisParameters, string>> = {
  numPermutations:
    "Number of values of a text's signature. More values are slower and find more pairs close to the threshold.",
  numBands:
    "Number of bands of a signature; texts that agree in one band are compared. More bands find more pairs and compare more. 0 chooses the fewest that find 99.9 % of the pairs that can just reach the threshold.",
  ngramSize: "Number of consecutive words in a phrase of the Jaccard similarity.",
  minWords: "Minimum number of words; shorter texts are not analysed.",
  similarityThreshold: "Minimum confidence of a pair of documents to form a group.",
  confidenceWeightJaccard:
    "Weight of the Jaccard similarity in the confidence, in percent. Both weights must add up to 100.",
  confidenceWeightFuzzy: "Weight of the fuzzy ratio in the confidence, in percent.",
  discriminativePenaltyStrength:
    "How much differing dates, amounts and numbers lower the confidence, in percent. 0 ignores them.",
  fuzzySampleSize: "Number of characters from the start of a text that the fuzzy ratio compares.",
  autoAnalyze:
    "Starts an analysis after each sync that changed something or left documents waiting.",
};

type Keys = { readonly [K in NumberName]: Key<number> } & { readonly autoAnalyze: Key<boolean> };

/**
 * The settings by the names that the API gives them; `numBands` is `dedup.analysis.num_bands` in
 * the file.
 */
export const analysisKeys: Keys = {
  numPermutations: numberKey("numPermutations"),
  numBands: numberKey("numBands"),
  ngramSize: numberKey("ngramSize"),
  minWords: numberKey("minWords"),
  similarityThreshold: numberKey("similarityThreshold"),
  confidenceWeightJaccard: numberKey("confidenceWeightJaccard"),
  confidenceWeightFuzzy: numberKey("confidenceWeightFuzzy"),
  discriminativePenaltyStrength: numberKey("discriminativePenaltyStrength"),
  fuzzySampleSize: numberKey("fuzzySampleSize"),
  autoAnalyze: defineKey({
    path: pathOf("autoAnalyze"),
    type: boolean,
    default: defaultParameters.autoAnalyze,
    owner: "runtime",
    help: help.autoAnalyze,
  }),
};

export const analysisSchema: Schema = Object.values(analysisKeys);

/** Refuses what file and environment say when their rules over several keys are broken. */
export const checkAnalysis: Check = {
  needs: analysisSchema,
  run: (config) =>
    brokenRules(
      parametersFrom((key) => config.get(key)),
      leafOf,
    ).map(({ name, rule }) => {
      const { line, variable } = {
        line: undefined,
        variable: undefined,
        ...config.source(analysisKeys[name]),
      };
      return {
        severity: "error",
        path: analysisKeys[name].path,
        rule,
        remedy: "set both.",
        ...(line === undefined ? {} : { line }),
        ...(variable === undefined ? {} : { variable }),
      };
    }),
};

/** Refuses a change that would break those rules. */
export const analysisRules: SettingsCheck = {
  scope: ANALYSIS_SCOPE,
  run: (get) =>
    brokenRules(parametersFrom(get), leafOf).map(({ name, rule }) => ({
      key: analysisKeys[name],
      rule,
      remedy: "change both",
    })),
};

export interface ParametersDeps {
  readonly settings: Pick<Settings, "get">;
  readonly config: Pick<Config, "get">;
  readonly log: Log;
}

/**
 * The current parameters. A key pinned by the operator later may conflict with a stored setting;
 * then stored settings are ignored and this is logged.
 */
export function readParameters({ settings, config, log }: ParametersDeps): AnalysisParameters {
  const parameters = parametersFrom((key) => settings.get(key));
  const [broken] = brokenRules(parameters, leafOf);
  if (broken === undefined) return parameters;
  log.warn("stored analysis settings conflict with the configuration and are ignored", {
    setting: analysisKeys[broken.name].path,
    reason: broken.rule,
  });
  return parametersFrom((key) => config.get(key));
}

/** The parameters that settings give. */
export function parametersFrom(get: ReadSetting): AnalysisParameters {
  const numBands = get(analysisKeys.numBands);
  const parameters = {
    numPermutations: get(analysisKeys.numPermutations),
    numBands,
    ngramSize: get(analysisKeys.ngramSize),
    minWords: get(analysisKeys.minWords),
    similarityThreshold: get(analysisKeys.similarityThreshold),
    confidenceWeightJaccard: get(analysisKeys.confidenceWeightJaccard),
    confidenceWeightFuzzy: get(analysisKeys.confidenceWeightFuzzy),
    discriminativePenaltyStrength: get(analysisKeys.discriminativePenaltyStrength),
    fuzzySampleSize: get(analysisKeys.fuzzySampleSize),
    autoAnalyze: get(analysisKeys.autoAnalyze),
  };
  return bandsArePlanned(get) ? { ...parameters, numBands: planBands(parameters) } : parameters;
}

function numberKey(name: NumberName): Key<number> {
  const { least, most, whole } = parameterRanges[name];
  const planned = name === "numBands";
  return defineKey({
    path: pathOf(name),
    type: (whole ? integer : decimal)(planned ? PLANNED_BANDS : least, most),
    default: planned ? PLANNED_BANDS : defaultParameters[name],
    owner: "runtime",
    help: help[name],
  });
}

function pathOf(name: keyof AnalysisParameters): string {
  return `${ANALYSIS_SCOPE}.${leafOf(name)}`;
}

/** `ngramSize` as it stands in the file: `ngram_size`. */
export function leafOf(name: keyof AnalysisParameters): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Whether the number of bands is chosen from the other parameters. */
export function bandsArePlanned(get: ReadSetting): boolean {
  return get(analysisKeys.numBands) === PLANNED_BANDS;
}

/** The name that the API gives a setting of the file: `ngramSize` for `ngram_size`. */
export function fieldOf(leaf: string): string {
  return leaf.replaceAll(/_[a-z]/g, (part) => part.slice(1).toUpperCase());
}
