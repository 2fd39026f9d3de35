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
  /** Keeps the scores of a pair that was verified. */
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
/** More than the greatest number of a text. */
const TEXTS = 2 ** 26;

/** The scores as they are kept. */
type Kept = Pick<VerdictRow, "jaccard" | "discriminative" | "fuzzy">;

interface Known extends Kept {
  /** From the store, and not used by the run so far. */
  unused: boolean;
  /** Verified by this run. */
  readonly fresh: boolean;
}

/** The verdicts of a store about the texts of a run. Reads the store once, in slices. */
export async function loadVerdicts(
  store: SketchStore,
  classIndex: ClassIndex,
  parameters: CoverParameters,
  breath: Breath,
): Promise<Verdicts> {
  const fingerprint = verdictsFingerprint(parameters);
  const known = new Map<number, Known>();
  let fresh: number[] = [];
  const blocks: number[] = [];
  let stored = 0;
  let used = 0;
  for await (const { id, buffer } of store.load(fingerprint)) {
    blocks.push(id);
    for (const row of readVerdicts(buffer)) {
      stored += 1;
      const a = classIndex.find(row.bytes, row.a);
      const b = a < 0 ? -1 : classIndex.find(row.bytes, row.b);
      if (b < 0) continue;
      const { jaccard, discriminative, fuzzy } = row;
      known.set(keyOf(a, b), { jaccard, discriminative, fuzzy, unused: true, fresh: false });
    }
    await breath.step(BLOCK_ROWS * 8);
  }

  function rowOf(key: number, { jaccard, discriminative, fuzzy }: Known): VerdictRow {
    const hashOf = (text: number): Uint8Array =>
      classIndex.hashes.subarray(text * 32, (text + 1) * 32);
    return {
      a: hashOf(Math.floor(key / TEXTS)),
      b: hashOf(key % TEXTS),
      jaccard,
      discriminative,
      fuzzy,
    };
  }

  async function save(keys: readonly number[]): Promise<void> {
    for (let at = 0; at < keys.length; at += BLOCK_ROWS) {
      const rows = keys.slice(at, at + BLOCK_ROWS).flatMap((key) => {
        const one = known.get(key);
        return one ? [rowOf(key, one)] : [];
      });
      await store.save(writeVerdicts(fingerprint, rows));
    }
  }

  async function saveFresh(): Promise<void> {
    const keys = fresh;
    fresh = [];
    await save(keys);
  }

  return {
    any: known.size > 0,
    of(a, b) {
      if (a === b) return SAME_TEXT;
      const one = known.get(keyOf(a, b));
      const scores = one && judge(one, parameters);
      if (scores && one?.unused) {
        one.unused = false;
        used += 1;
      }
      return scores;
    },
    note(a, b, scores) {
      if (a === b) return;
      const key = keyOf(a, b);
      known.set(key, { ...kept(scores, parameters), unused: false, fresh: true });
      fresh.push(key);
    },
    async flush() {
      if (fresh.length >= BLOCK_ROWS) await saveFresh();
    },
    async end() {
      await saveFresh();
      if (2 * used >= stored) return;
      // Written anew first: a crash between leaves scores twice, which are the same.
      let keys: number[] = [];
      for (const [key, one] of known) {
        if (!one.unused && !one.fresh) keys.push(key);
        if (keys.length === BLOCK_ROWS) {
          await save(keys);
          keys = [];
        }
        const pause = breath.step(5);
        if (pause) await pause;
      }
      await save(keys);
      await store.drop(blocks);
    },
  };
}

/**
 * Whether a pair that was verified with some parameters passes with others and failed before, or
 * the other way round, or may: a score that is missing, or no stored verdict at all, may.
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
  return rows === 0;
}

function keyOf(a: number, b: number): number {
  return Math.min(a, b) * TEXTS + Math.max(a, b);
}

function verdictsFingerprint({ ngramSize, fuzzySampleSize }: FeatureParameters): Uint8Array {
  return createHash("sha256")
    .update(JSON.stringify({ FEATURES_VERSION, ngramSize, fuzzySampleSize }))
    .digest();
}

/** The part of scores to store: enough to decide the pair again, also with other weights. */
function kept(scores: PairScores, parameters: CoverParameters): Kept {
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
function judge(one: Kept, parameters: CoverParameters): PairScores | undefined {
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
