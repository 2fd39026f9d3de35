/**
 * Whether two classes that meet in a band may still be duplicates: the cheap tests before anything
 * exact.
 */
import { confidence, jaccardFloor } from "../score/confidence.ts";
import type { ScoreParameters } from "../score/confidence.ts";
import { discriminativeOfHashes } from "../score/discriminative.ts";
import { COUNT_WORDS } from "../block.ts";
import {
  countEqual,
  estimateFrom,
  estimateMargin,
  leastEqual,
  sketchStride,
} from "../sketch/estimate.ts";
import type { Columns } from "./columns.ts";

/** Keeps the bounds on the safe side of rounding. */
const ROUNDING = 1e-9;

/** The tests over one set of columns. */
export interface PairFilter {
  /** Whether the classes agree in a band before this one, where the pair was met already. */
  metBefore(band: number, a: number, b: number): boolean;
  /**
   * Equal sketch bytes of a pair that may still reach the threshold, or -1. Depends on the two
   * texts and the parameters alone.
   */
  test(a: number, b: number): number;
}

/** Compiles the tests for one run. */
export function createPairFilter(columns: Columns, parameters: ScoreParameters): PairFilter {
  const { numBands, sketchSize } = columns;
  const bands = new Uint32Array(columns.bands);
  const sketches = new Uint32Array(columns.sketches);
  const setSizes = new Uint32Array(columns.setSizes);
  const tokenStarts = new Uint32Array(columns.tokenStarts);
  const tokens = new Uint32Array(columns.tokens);
  const tokenCounts = new Uint16Array(columns.tokens);
  const words = sketchStride(sketchSize) / 4;
  const padding = words * 4 - sketchSize;
  const floor = jaccardFloor(parameters) - ROUNDING;
  const least = leastEqual(floor, sketchSize);
  const margin = estimateMargin(sketchSize);
  const penalised = parameters.discriminativePenaltyStrength > 0;

  function mayReach(a: number, b: number, bound: number): boolean {
    if (!penalised) return true;
    const inA = tokenStarts[a] ?? 0;
    const inB = tokenStarts[b] ?? 0;
    const alike = discriminativeOfHashes(
      tokens,
      tokenCounts,
      inA + COUNT_WORDS,
      tokens,
      tokenCounts,
      inB + COUNT_WORDS,
      inA * 2,
      inB * 2,
    );
    return confidence(bound, 1, alike, parameters) >= parameters.similarityThreshold - ROUNDING;
  }

  return {
    metBefore(band, a, b) {
      const atA = a * numBands;
      const atB = b * numBands;
      for (let i = 0; i < band; i += 1) if (bands[atA + i] === bands[atB + i]) return true;
      return false;
    },
    test(a, b) {
      const sizeA = setSizes[a] ?? 0;
      const sizeB = setSizes[b] ?? 0;
      // Two sets are never more alike than the smaller one is a share of the larger.
      const ratio = sizeA < sizeB ? sizeA / sizeB : sizeB / sizeA;
      if (ratio < floor) return -1;
      const equal = countEqual(sketches, a * words, b * words, words, padding);
      if (equal < least) return -1;
      return mayReach(a, b, Math.min(1, ratio, estimateFrom(equal, sketchSize) + margin))
        ? equal
        : -1;
    },
  };
}
