/** `steward verify`: candidate pairs in, scores or groups out. */
import {
  checkParameters,
  coverParametersOf,
  defaultParameters,
} from "../../dedup/analysis/parameters.ts";
import type { AnalysisParameters } from "../../dedup/analysis/parameters.ts";
import { rawLinesOf, readSlices } from "../../dedup/archives/jsonl.ts";
import { mapInOrder } from "../../dedup/archives/ordered.ts";
import { batchComponents } from "../../dedup/filters/batches.ts";
import { readComponents } from "../../dedup/filters/components.ts";
import { coverComponents } from "../../dedup/filters/cover-components.ts";
import { scoreHeader } from "../../dedup/filters/header.ts";
import { scorePairs } from "../../dedup/filters/score-pairs.ts";
import type { VerifyArguments } from "./arguments.ts";
import { runFilter } from "./run.ts";
import type { FilterDeps } from "./run.ts";

/** Batches that are covered at a time. */
const BATCHES = 2;

/** Runs the command; resolves with its exit code. Throws what made the run fail. */
export async function verify(options: VerifyArguments): Promise<number> {
  const given = parametersOf(options.parameters);
  checkParameters(given);
  const end = await runFilter(options, (deps) => verifyAll(deps, options.cover, given));
  return typeof end === "number" ? end : 0;
}

/** One weight sets the other, since they add up to 100. */
function parametersOf(given: VerifyArguments["parameters"]): AnalysisParameters {
  const { confidenceWeightJaccard: jaccard, confidenceWeightFuzzy: fuzzy } = given;
  return {
    ...defaultParameters,
    ...given,
    ...(jaccard === undefined && fuzzy !== undefined && { confidenceWeightJaccard: 100 - fuzzy }),
    ...(fuzzy === undefined && jaccard !== undefined && { confidenceWeightFuzzy: 100 - jaccard }),
  };
}

async function* verifyAll(
  { pool, signal, sources }: FilterDeps,
  cover: boolean,
  given: AnalysisParameters,
): AsyncGenerator<string> {
  let isFirst = true;
  for (const source of sources) {
    const lines = rawLinesOf(readSlices(pool, source, signal), signal);
    const { header, components } = await readComponents(lines, source.name, cover);
    const { ngramSize, numPermutations } = header;
    const deps = { parameters: coverParametersOf({ ...given, ngramSize }), pool, signal };
    if (isFirst) yield scoreHeader(deps.parameters, cover);
    isFirst = false;
    const batches = batchComponents(components);
    if (!cover) for await (const batch of batches) yield* scorePairs(batch, deps);
    else
      for await (const groups of mapInOrder(batches, BATCHES, (batch) =>
        coverComponents(batch, { ...deps, numPermutations }),
      ))
        yield* groups;
  }
}
