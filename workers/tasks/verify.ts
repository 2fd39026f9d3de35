/**
 * Scores candidate pairs exactly: Jaccard of the sets, D of the tokens, fuzzy ratio of the samples.
 */
import { COUNT_WORDS, TABLE_WORDS } from "../block.ts";
import { stopped } from "../control.ts";
import type { TaskControl } from "../control.ts";
import { confidence, fuzzyNeeded } from "../score/confidence.ts";
import type { ScoreParameters } from "../score/confidence.ts";
import { discriminativeOfHashes } from "../score/discriminative.ts";
import { fuzzyRatio, wordSorted } from "../score/fuzzy.ts";
import type { SortedSample } from "../score/fuzzy.ts";
import { jaccardOf } from "../score/jaccard.ts";
import { decompressText } from "../text/compress.ts";

/** Payloads of some classes in shared memory, as in a block: a class is a slot. */
export interface Payloads {
  /** The payloads, one after the other. */
  readonly words: SharedArrayBuffer;
  /** Rows as in a block's table; positions refer to `words`. */
  readonly table: SharedArrayBuffer;
}

/** Pairs to score: slot `a[i]` of `inA` with slot `b[i]` of `inB`. */
export interface VerifyInput {
  readonly inA: Payloads;
  readonly inB: Payloads;
  readonly a: Uint32Array;
  readonly b: Uint32Array;
  readonly parameters: ScoreParameters;
}

/**
 * The pairs that reach the threshold, ascending by `index`, their place in the input. All scores
 * are exact.
 */
export interface VerifyOutput {
  readonly index: Uint32Array<ArrayBuffer>;
  readonly jaccard: Float64Array<ArrayBuffer>;
  readonly fuzzy: Float64Array<ArrayBuffer>;
  readonly discriminative: Float64Array<ArrayBuffer>;
  readonly confidence: Float64Array<ArrayBuffer>;
}

/** Unpacked samples kept for the pairs to come, in UTF-16 units. */
const MAX_KEPT_UNITS = 4_000_000;

interface Side {
  readonly words: Uint32Array;
  readonly counts: Uint16Array;
  readonly bytes: Uint8Array;
  readonly table: Uint32Array;
  readonly samples: Map<number, SortedSample>;
  keptUnits: number;
}

interface Scored {
  readonly jaccard: number;
  readonly fuzzy: number;
  readonly discriminative: number;
  readonly confidence: number;
}

/** Scores a batch. Throws `cancelled`. */
export function run(input: VerifyInput, control: TaskControl): VerifyOutput {
  const a = sideOf(input.inA);
  const b = input.inB.words === input.inA.words ? a : sideOf(input.inB);
  const index: number[] = [];
  const scores: Scored[] = [];
  for (let i = 0; i < input.a.length; i += 1) {
    if (control.cancelled()) throw stopped();
    const scored = scorePair(a, input.a[i] ?? 0, b, input.b[i] ?? 0, input.parameters);
    control.step(1);
    if (!scored) continue;
    index.push(i);
    scores.push(scored);
  }
  const column = (name: keyof Scored): Float64Array<ArrayBuffer> =>
    Float64Array.from(scores, (scored) => scored[name]);
  return {
    index: Uint32Array.from(index),
    jaccard: column("jaccard"),
    fuzzy: column("fuzzy"),
    discriminative: column("discriminative"),
    confidence: column("confidence"),
  };
}

/** The scores of a pair, or nothing when its confidence misses the threshold. Dearest test last. */
function scorePair(
  a: Side,
  slotA: number,
  b: Side,
  slotB: number,
  parameters: ScoreParameters,
): Scored | undefined {
  const [startA = 0, tokensA = 0, setA = 0] = row(a, slotA);
  const [startB = 0, tokensB = 0, setB = 0] = row(b, slotB);
  const jaccard = jaccardOf(
    a.words,
    startA + tokensA,
    startA + tokensA + setA,
    b.words,
    startB + tokensB,
    startB + tokensB + setB,
  );
  const discriminative = discriminativeOfHashes(
    a.words,
    a.counts,
    startA + COUNT_WORDS,
    b.words,
    b.counts,
    startB + COUNT_WORDS,
    startA * 2,
    startB * 2,
  );
  const needed = fuzzyNeeded(jaccard, discriminative, parameters);
  if (needed > 1) return undefined;
  const fuzzy = fuzzyRatio(sampleOf(a, slotA), sampleOf(b, slotB), needed);
  const total = confidence(jaccard, fuzzy, discriminative, parameters);
  return total >= parameters.similarityThreshold
    ? { jaccard, fuzzy, discriminative, confidence: total }
    : undefined;
}

function sideOf(payloads: Payloads): Side {
  return {
    words: new Uint32Array(payloads.words),
    counts: new Uint16Array(payloads.words),
    bytes: new Uint8Array(payloads.words),
    table: new Uint32Array(payloads.table),
    samples: new Map(),
    keptUnits: 0,
  };
}

function row(side: Side, slot: number): Uint32Array {
  return side.table.subarray(slot * TABLE_WORDS, (slot + 1) * TABLE_WORDS);
}

function sampleOf(side: Side, slot: number): SortedSample {
  const kept = side.samples.get(slot);
  if (kept !== undefined) return kept;
  const [start = 0, tokens = 0, set = 0, bytes = 0] = row(side, slot);
  const at = (start + tokens + set) * 4;
  const sample = wordSorted(decompressText(side.bytes.slice(at, at + bytes)));
  if (side.keptUnits + sample.units.length > MAX_KEPT_UNITS) {
    side.samples.clear();
    side.keptUnits = 0;
  }
  side.samples.set(slot, sample);
  side.keptUnits += sample.units.length;
  return sample;
}
