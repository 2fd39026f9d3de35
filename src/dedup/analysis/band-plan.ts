/**
 * How many bands a sketch is cut into. Two texts meet when all values of one band agree; with b
 * bands of r values a pair of Jaccard similarity J meets with probability 1 − (1 − J^r)^b. Few long
 * bands are cheap and lose pairs of low similarity, many short ones find them and compare more.
 */
import { jaccardFloor } from "../../../workers/score/confidence.ts";
import type { NumberName } from "./parameters.ts";
import type { ScoreParameters } from "../../../workers/score/confidence.ts";

/** The share of the pairs at the floor that should meet. */
const WANTED_SHARE = 0.999;

/** What the plan depends on. */
export type BandPlanParameters = { readonly numPermutations: number } & Pick<
  ScoreParameters,
  "similarityThreshold" | "confidenceWeightJaccard" | "confidenceWeightFuzzy"
>;

/**
 * The fewest bands that let 99.9 % of the pairs meet that have the least Jaccard similarity with
 * which a pair can reach the threshold; as many as there are values when no number does.
 */
export function planBands(parameters: BandPlanParameters): number {
  const { numPermutations } = parameters;
  const floor = floorOf(parameters);
  for (let values = numPermutations; values > 1; values -= 1) {
    const numBands = Math.floor(numPermutations / values);
    if (shareFound(floor, { numPermutations, numBands }) >= WANTED_SHARE) return numBands;
  }
  return numPermutations;
}

/** The share of pairs of this Jaccard similarity that meet in at least one band. */
export function shareFound(
  jaccard: number,
  { numPermutations, numBands }: { readonly numPermutations: number; readonly numBands: number },
): number {
  const values = Math.floor(numPermutations / numBands);
  return 1 - (1 - jaccard ** values) ** numBands;
}

/**
 * What the bands may not find, in words with a remedy; none when they find what they should.
 * `shown` is what the reader calls a parameter.
 */
export function bandWarnings(
  parameters: BandPlanParameters & { readonly numBands: number },
  shown: (name: NumberName) => string = (name) => name,
): string[] {
  const floor = floorOf(parameters);
  if (floor <= 0)
    return [
      "pairs without a common phrase can reach the threshold with their fuzzy ratio alone, but are not compared; " +
        `raise ${shown("similarityThreshold")} above the fuzzy weight to exclude them`,
    ];
  const missed = 1 - shareFound(floor, parameters);
  if (missed <= 1 - WANTED_SHARE) return [];
  const { numPermutations, numBands } = parameters;
  const planned = planBands(parameters);
  const remedy =
    planned > numBands
      ? `set ${shown("numBands")} to ${planned}`
      : `raise ${shown("numPermutations")}, ${shown("similarityThreshold")} or ${shown("confidenceWeightJaccard")}`;
  return [
    `of pairs with a Jaccard similarity of ${rounded(floor)}, which can still reach the threshold, ${rounded(100 * missed)} % are missed with ${numBands} bands of ${numPermutations} values; ${remedy}`,
  ];
}

function floorOf(parameters: BandPlanParameters): number {
  // The penalty and the sample have no part in the floor.
  const floor = jaccardFloor({
    ...parameters,
    discriminativePenaltyStrength: 0,
    fuzzySampleSize: 0,
  });
  return Math.min(1, floor);
}

function rounded(value: number): string {
  return String(Number(value.toPrecision(3)));
}
