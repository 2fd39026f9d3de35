/**
 * What is known about pairs of texts before they are verified. Scores belong to the two texts and
 * the parameters of the features; whether a pair passes is decided anew with the weights of the
 * run, so a change of a weight makes no score useless.
 */
import { createHash } from "node:crypto";
import { confidenceOf, remainingFuzzy, SAME_TEXT } from "../../../workers/verify/pair-verifier.ts";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import { FEATURES_VERSION } from "../../../workers/verify/text-features.ts";
import type { FeatureParameters } from "../../../workers/verify/text-features.ts";
import { safeJaccardFloor } from "../../../workers/score/confidence.ts";
import type { Breath } from "./breath.ts";
import type { ClassIndex } from "./class-index.ts";
import { createPairTable } from "./pair-table.ts";
import type { KeptScores } from "./pair-table.ts";
import type { CoverParameters } from "./parameters.ts";
import type { SketchStore } from "./sketch-store.ts";
import { fingerprintOfVerdicts, readVerdicts, writeVerdicts } from "./verdict-block.ts";
import type { VerdictRow } from "./verdict-block.ts";

/** The scores of pairs of texts, by the numbers that the run gives them. */
export interface Verdicts {
  /** Whether there are any but those of equal texts. */
  readonly any: boolean;
  /** The scores of a pair, when they are known. */
  of(a: number, b: number): PairScores | undefined;
  /** Keeps the scores of a pair that was verified, unless those are too many. */
  note(a: number, b: number, scores: PairScores): void;
  /** Stores what was noted once it is much; resolves when it is durable. */
  flush(): Promise<void>;
  /** Stores what was noted, and clears away what this run had no use for. */
  end(): Promise<void>;
}

/** Verdicts that are not kept: only equal texts are known. */
export function createNoVerdicts(): Verdicts {
  return {
    any: false,
    of: (a, b) => (a === b ? SAME_TEXT : undefined),
    note: () => undefined,
    flush: () => Promise.resolve(),
    end: () => Promise.resolve(),
  };
}

/** Rows of one block. */
const BLOCK_ROWS = 8_192;
/**
 * Pairs that are kept, some 40 bytes each: a run loads no more, and adds new ones until those that it
 * used and added are as many. Others are verified in every run, with the same result. At most four
 * times as many rows are stored.
 */
export const MAX_KEPT_PAIRS = 2 ** 22;

export interface LoadOptions {
  /** The texts of the run. */
  readonly classIndex: ClassIndex;
  readonly parameters: CoverParameters;
  readonly breath: Breath;
  /** Other than `MAX_KEPT_PAIRS` in tests only. */
  readonly maxPairs?: number;
}

/** The verdicts of a store about the texts of a run. Reads the store once, in slices. */
export async function loadVerdicts(
  store: SketchStore,
  { classIndex, parameters, breath, maxPairs = MAX_KEPT_PAIRS }: LoadOptions,
): Promise<Verdicts> {
  const fingerprint = verdictsFingerprint(parameters);
  const table = createPairTable();
  const blocks: number[] = [];
  let stored = 0;
  for await (const { id, buffer } of store.load(fingerprint)) {
    if (stored >= 2 * maxPairs) {
      // Runs that are cut off leave what they stored, which would add up.
      await store.drop([id]);
      continue;
    }
    blocks.push(id);
    for (const row of readVerdicts(buffer)) {
      stored += 1;
      const a = table.size < maxPairs ? classIndex.find(row.bytes, row.a) : -1;
      const b = a < 0 ? -1 : classIndex.find(row.bytes, row.b);
      if (b >= 0) table.add(a, b, row);
    }
    await breath.step(BLOCK_ROWS * 8);
  }
  // Rows from here on are those of this run.
  const loaded = table.size;
  const isUsed = new Uint8Array(loaded);
  let used = 0;
  let saved = loaded;

  function rowAt(place: number): VerdictRow {
    const { low, high, ...scores } = table.at(place);
    const hashOf = (text: number): Uint8Array =>
      classIndex.hashes.subarray(text * 32, (text + 1) * 32);
    return { a: hashOf(low), b: hashOf(high), ...scores };
  }

  async function save(places: readonly number[]): Promise<void> {
    if (places.length > 0) await store.save(writeVerdicts(fingerprint, places.map(rowAt)));
  }

  async function saveFresh(): Promise<void> {
    const [from, end] = [saved, table.size];
    saved = end;
    for (let at = from; at < end; at += BLOCK_ROWS) {
      const length = Math.min(BLOCK_ROWS, end - at);
      await save(Array.from({ length }, (_, row) => at + row));
    }
  }

  return {
    any: loaded > 0,
    of(a, b) {
      if (a === b) return SAME_TEXT;
      const place = table.find(a, b);
      const scores = place < 0 ? undefined : judge(table.at(place), parameters);
      if (scores && isUsed[place] === 0) {
        isUsed[place] = 1;
        used += 1;
      }
      return scores;
    },
    note(a, b, scores) {
      if (a === b || used + table.size - loaded >= maxPairs) return;
      table.add(a, b, kept(scores, parameters));
    },
    async flush() {
      if (table.size - saved >= BLOCK_ROWS) await saveFresh();
    },
    async end() {
      await saveFresh();
      if (2 * used >= stored) return;
      // Written anew first: a crash between leaves scores twice, which are the same.
      let places: number[] = [];
      for (const [place, one] of isUsed.entries()) {
        if (one === 1) places.push(place);
        if (places.length === BLOCK_ROWS) {
          await save(places);
          places = [];
        }
        const pause = breath.step(5);
        if (pause) await pause;
      }
      await save(places);
      await store.drop(blocks);
    },
  };
}

/**
 * Whether a pair that was verified with some parameters passes with others and failed before, or
 * the other way round, or may: a score that is missing may, and so may pairs that are not there:
 * when no verdict is stored at all, or as many as are kept.
 */
export async function mayDiffer(
  store: Pick<SketchStore, "peek">,
  before: CoverParameters,
  now: CoverParameters,
  breath: Breath,
): Promise<boolean> {
  const fingerprint = verdictsFingerprint(before);
  let rows = 0;
  for await (const buffer of store.peek()) {
    if (Buffer.compare(fingerprintOfVerdicts(buffer), fingerprint) !== 0) continue;
    for (const row of readVerdicts(buffer)) {
      rows += 1;
      const was = judge(row, before);
      if (was === undefined) continue;
      const is = judge(row, now);
      if (is === undefined || Number.isNaN(is.confidence) !== Number.isNaN(was.confidence))
        return true;
    }
    await breath.step(BLOCK_ROWS * 8);
  }
  return rows === 0 || rows >= MAX_KEPT_PAIRS;
}

function verdictsFingerprint({ ngramSize, fuzzySampleSize }: FeatureParameters): Uint8Array {
  return createHash("sha256")
    .update(JSON.stringify({ FEATURES_VERSION, ngramSize, fuzzySampleSize }))
    .digest();
}

/** The part of scores to store: enough to decide the pair again, also with other weights. */
function kept(scores: PairScores, parameters: CoverParameters): KeptScores {
  const { discriminative, fuzzy } = scores;
  const floor = safeJaccardFloor(parameters);
  const jaccard = Number.isNaN(scores.jaccard) ? -floor : scores.jaccard;
  if (!Number.isNaN(scores.confidence) || !Number.isNaN(fuzzy))
    return { jaccard, discriminative, fuzzy };
  const needed = remainingFuzzy(scores, parameters);
  const tried = jaccard >= floor && needed <= 1;
  return { jaccard, discriminative, fuzzy: tried ? -needed : Number.NaN };
}

/** The verdict on scores that were kept; undefined when one is missing. */
function judge(one: KeptScores, parameters: CoverParameters): PairScores | undefined {
  const { jaccard } = one;
  const floor = safeJaccardFloor(parameters);
  const missed: PairScores = {
    jaccard: jaccard < 0 ? Number.NaN : jaccard,
    discriminative: one.discriminative,
    fuzzy: Number.NaN,
    confidence: Number.NaN,
  };
  // All that is known of a negative one is that it is below its opposite.
  if (jaccard < 0) return -jaccard <= floor ? missed : undefined;
  if (jaccard < floor) return missed;
  const penalised = parameters.discriminativePenaltyStrength > 0;
  if (penalised && Number.isNaN(one.discriminative)) return undefined;
  const discriminative = penalised ? one.discriminative : Number.NaN;
  const needed = remainingFuzzy({ jaccard, discriminative }, parameters);
  if (needed > 1) return missed;
  const fuzzy = parameters.confidenceWeightFuzzy > 0 ? one.fuzzy : 0;
  if (Number.isNaN(fuzzy)) return undefined;
  if (fuzzy < 0) return -fuzzy <= needed ? missed : undefined;
  const scores = {
    jaccard,
    discriminative,
    fuzzy: parameters.confidenceWeightFuzzy > 0 ? fuzzy : Number.NaN,
  };
  const confidence = confidenceOf(scores, parameters);
  return confidence >= parameters.similarityThreshold ? { ...scores, confidence } : missed;
}
