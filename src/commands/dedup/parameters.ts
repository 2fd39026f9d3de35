/** The parameters of the analysis from the options of the command line. */
import { planBands } from "../../dedup/analysis/band-plan.ts";
import { brokenRules, defaultParameters } from "../../dedup/analysis/parameters.ts";
import type { AnalysisParameters, NumberName } from "../../dedup/analysis/parameters.ts";
import { misuseOf } from "../command.ts";
import type { AnalysisArguments } from "./arguments.ts";
import { parameterOptions } from "./parameter-options.ts";

/**
 * The parameters, defaults filled in. One weight sets the other, since they add up to 100; bands
 * that are not given are planned. Throws a
 * usage error for parameters that exclude each other.
 */
export function parametersOf({ parameters: given }: AnalysisArguments): AnalysisParameters {
  const parameters = { ...defaultParameters, ...given };
  const { confidenceWeightJaccard: jaccard, confidenceWeightFuzzy: fuzzy } = given;
  if (jaccard === undefined && fuzzy !== undefined)
    parameters.confidenceWeightJaccard = 100 - fuzzy;
  if (fuzzy === undefined && jaccard !== undefined)
    parameters.confidenceWeightFuzzy = 100 - jaccard;
  if (given.numBands === undefined) parameters.numBands = planBands(parameters);
  const [broken] = brokenRules(parameters, optionOf);
  if (broken !== undefined) throw misuseOf("dedup")(`${optionOf(broken.name)} ${broken.rule}`);
  return parameters;
}

/** What a parameter is called on the command line. */
export function optionOf(name: NumberName): string {
  const option = Object.entries(parameterOptions).find(([, parameter]) => parameter.name === name);
  return `--${option?.[0] ?? name}`;
}
