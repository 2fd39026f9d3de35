/**
 * Verifies pairs of a component that is too large for one task. Features are kept between tasks of
 * the same run, within a bound, since a text of such a component is compared many times.
 */
import { createScoreColumns } from "../cover/score-columns.ts";
import type { ScoreColumns } from "../cover/score-columns.ts";
import { stopped } from "../control.ts";
import type { TaskControl } from "../control.ts";
import type { ScoreParameters } from "../score/confidence.ts";
import { storedText } from "../text/compress.ts";
import { verifyPair } from "../verify/pair-verifier.ts";
import type { PairScores } from "../verify/pair-verifier.ts";
import { createTextFeatures } from "../verify/text-features.ts";
import type { FeatureParameters, TextFeatures } from "../verify/text-features.ts";

/** Pairs of texts by their positions in `texts`. */
export interface VerifyInput {
  /** Names the run and its parameters: features of one are never used in another. */
  readonly runId: string;
  readonly a: Uint32Array;
  readonly b: Uint32Array;
  readonly texts: SharedTexts;
  readonly parameters: ScoreParameters & FeatureParameters;
}

/** Texts in shared memory, so that only those are unpacked whose features are not known. */
export interface SharedTexts {
  readonly bytes: SharedArrayBuffer;
  /** Where each text begins in `bytes`, and its length; 0 for a text that is gone. */
  readonly starts: Float64Array;
  readonly lengths: Uint32Array;
  /** What the run calls each text. */
  readonly ids: Uint32Array;
}

/** Scores in input order. */
export interface VerifyOutput {
  readonly scores: ScoreColumns;
  /** 1 for a pair with a text that is gone, which has no scores. */
  readonly gone: Uint8Array<ArrayBuffer>;
}

const UNKNOWN: PairScores = {
  jaccard: Number.NaN,
  discriminative: Number.NaN,
  fuzzy: Number.NaN,
  confidence: Number.NaN,
};

/** Verifies a batch. Throws `cancelled`, or `corrupt` for a text that cannot be unpacked. */
export function run(input: VerifyInput, control: TaskControl): VerifyOutput {
  const { a, b, parameters } = input;
  const scores = createScoreColumns();
  const gone = new Uint8Array(a.length);
  for (let i = 0; i < a.length; i += 1) {
    if (control.cancelled()) throw stopped();
    const one = featuresOf(input, a[i] ?? 0);
    const other = featuresOf(input, b[i] ?? 0);
    gone[i] = one && other ? 0 : 1;
    scores.push(one && other ? verifyPair(one, other, parameters) : UNKNOWN);
    control.step(1);
  }
  const columns = scores.take();
  for (const column of Object.values(columns) as Float64Array<ArrayBuffer>[])
    control.transfer(column.buffer);
  return { scores: columns, gone };
}

/** Bytes of features that a thread keeps, as estimated by `costOf`. */
const MAX_KEPT_BYTES = 160 * 2 ** 20;

interface Kept {
  readonly id: number;
  readonly features: TextFeatures;
  readonly cost: number;
}

/**
 * The features of one run. One star after the other asks for nearly the same texts in the same
 * order: if the least recently used gave way, a star with more texts than are kept would find none
 * of them. So an arbitrary one gives way.
 */
const kept = {
  runId: "",
  all: [] as Kept[],
  placeOf: new Map<number, number>(),
  bytes: 0,
  removed: 0,
};

function featuresOf(input: VerifyInput, at: number): TextFeatures | undefined {
  if (kept.runId !== input.runId) {
    kept.placeOf.clear();
    Object.assign(kept, { runId: input.runId, all: [], bytes: 0 });
  }
  const id = input.texts.ids[at] ?? 0;
  const place = kept.placeOf.get(id);
  if (place !== undefined) return kept.all[place]?.features;
  const length = input.texts.lengths[at] ?? 0;
  if (length === 0) return undefined;
  const bytes = new Uint8Array(input.texts.bytes, input.texts.starts[at] ?? 0, length);
  const text = storedText(bytes.slice());
  if (text.length === 0) return undefined;
  const features = createTextFeatures(text, input.parameters);
  keep({ id, features, cost: costOf(features, text, input.parameters) });
  return features;
}

function keep(one: Kept): void {
  while (kept.all.length > 0 && kept.bytes + one.cost > MAX_KEPT_BYTES) removeOne();
  kept.placeOf.set(one.id, kept.all.length);
  kept.all.push(one);
  kept.bytes += one.cost;
}

/** A multiplier whose multiples modulo 2^32 hit all parts of a range alike. */
const SPREAD = 0x9e3779b1;

function removeOne(): void {
  const place = (Math.imul((kept.removed += 1), SPREAD) >>> 0) % kept.all.length;
  const gone = kept.all[place];
  const last = kept.all.pop();
  if (!gone || !last) return;
  kept.placeOf.delete(gone.id);
  kept.bytes -= gone.cost;
  if (last === gone) return;
  kept.all[place] = last;
  kept.placeOf.set(last.id, place);
}

/** Shingles, the sample as bytes and as sorted units; the histogram, tokens and objects. */
function costOf(
  { shingles }: TextFeatures,
  text: Uint8Array,
  { fuzzySampleSize }: FeatureParameters,
): number {
  const units = Math.min(text.length, fuzzySampleSize);
  return 2_048 + shingles.byteLength + Math.min(text.length, 3 * fuzzySampleSize) + 2 * units;
}
