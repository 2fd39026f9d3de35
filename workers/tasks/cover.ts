/**
 * Covers small components from end to end: features are made from the texts at first use and gone
 * with the batch.
 */
import { createCover } from "../cover/cover.ts";
import type { CandidateGraph, OpenStar } from "../cover/cover.ts";
import { createScoreColumns, scoresAt } from "../cover/score-columns.ts";
import type { ScoreColumns } from "../cover/score-columns.ts";
import { stopped } from "../control.ts";
import type { TaskControl } from "../control.ts";
import { itemOf } from "../packed.ts";
import type { Packed } from "../packed.ts";
import type { ScoreParameters } from "../score/confidence.ts";
import { storedText } from "../text/compress.ts";
import { SAME_TEXT, verifyPair } from "../verify/pair-verifier.ts";
import type { PairScores } from "../verify/pair-verifier.ts";
import { createTextFeatures } from "../verify/text-features.ts";
import type { FeatureParameters, TextFeatures } from "../verify/text-features.ts";

/** Components, side by side in one graph. */
export interface CoverInput {
  readonly graph: CandidateGraph;
  /** The text of each vertex, by its position in `texts`; vertices with the same one are equal. */
  readonly textOf: Uint32Array;
  /** As stored; an empty item is a text that is gone: its pairs all fail. */
  readonly texts: Packed;
  readonly parameters: ScoreParameters & FeatureParameters;
  /** Pairs whose scores are known already; they are not verified again. */
  readonly known?: { readonly pairs: Uint32Array; readonly scores: ScoreColumns };
}

/** The groups, and every pair that was verified here. */
export interface CoverOutput {
  /** Per star its centre, the number of its pairs that passed, and those pairs. */
  readonly stars: Uint32Array<ArrayBuffer>;
  /** The pairs that were verified, passed or not, with their scores. */
  readonly pairs: Uint32Array<ArrayBuffer>;
  readonly scores: ScoreColumns;
}

/** Covers a batch. Throws `cancelled`, or `corrupt` for a text that cannot be unpacked. */
export function run(input: CoverInput, control: TaskControl): CoverOutput {
  const { graph, textOf, parameters } = input;
  const featuresOf = createFeatures(input);
  const cover = createCover(graph);
  const stars: number[] = [];
  const pairs: number[] = [];
  const scores = createScoreColumns();
  const known = new Map<number, PairScores>();
  for (const [at, pair] of input.known?.pairs.entries() ?? [])
    if (input.known) known.set(pair, scoresAt(input.known.scores, at));

  function verify(star: OpenStar, neighbour: number): PairScores | undefined {
    const [one, other] = [textOf[star.centre] ?? 0, textOf[neighbour] ?? 0];
    if (one === other) return SAME_TEXT;
    const [a, b] = [featuresOf(one), featuresOf(other)];
    return a && b && verifyPair(a, b, parameters);
  }

  function settle(star: OpenStar): void {
    const passed = new Uint8Array(star.pairs.length);
    const members: number[] = [];
    for (const [i, neighbour] of star.neighbours.entries()) {
      if (control.cancelled()) throw stopped();
      const pair = star.pairs[i] ?? 0;
      const before = known.get(pair);
      const scored = before ?? verify(star, neighbour);
      control.step(1);
      if (!scored) continue;
      if (!before) {
        pairs.push(pair);
        scores.push(scored);
      }
      if (Number.isNaN(scored.confidence)) continue;
      passed[i] = 1;
      members.push(pair);
    }
    if (members.length > 0) stars.push(star.centre, members.length, ...members);
    cover.apply(star, passed);
  }

  // Ends: each star closes at least one pair.
  while (cover.open > 0) cover.select(Number.POSITIVE_INFINITY).forEach(settle);
  const output = {
    stars: Uint32Array.from(stars),
    pairs: Uint32Array.from(pairs),
    scores: scores.take(),
  };
  for (const column of [output.stars, output.pairs, ...Object.values(output.scores)])
    control.transfer((column as Uint32Array<ArrayBuffer>).buffer);
  return output;
}

function createFeatures({
  texts,
  parameters,
}: CoverInput): (text: number) => TextFeatures | undefined {
  const made = new Map<number, TextFeatures>();
  return (text) => {
    const known = made.get(text);
    if (known) return known;
    const bytes = itemOf(texts, text);
    const stored = bytes.length === 0 ? bytes : storedText(bytes);
    if (stored.length === 0) return undefined;
    const features = createTextFeatures(stored, parameters);
    made.set(text, features);
    return features;
  };
}
