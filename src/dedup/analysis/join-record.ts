/**
 * The candidate pairs of the last finished join, kept for the next one: a pair of texts that were
 * both there is a candidate again, so only those with new texts have to be looked for. Kept only
 * when no limit left a pair out, since what a limit leaves out depends on all texts.
 */
import { createHash } from "node:crypto";
import { safeJaccardFloor } from "../../../workers/score/confidence.ts";
import type { Pairs } from "../../../workers/join/pair-list.ts";
import { createPairList } from "../../../workers/join/pair-list.ts";
import type { Breath } from "./breath.ts";
import { readJoin, writeJoin } from "./join-block.ts";
import type { JoinedTexts, StoredJoin } from "./join-block.ts";
import type { Candidates } from "./neighbours.ts";
import { parametersFingerprint } from "./parameters.ts";
import type { AnalysisParameters } from "./parameters.ts";
import type { SketchStore } from "./sketch-store.ts";

const HASH_BYTES = 32;

/** What is known of a join before it begins, in the numbers of this run. */
export interface KnownJoin {
  /** All candidates among the texts that were there before. */
  readonly pairs: Pairs;
  /** Texts that were not, ascending; signed or not. */
  readonly fresh: Uint32Array;
  /** Texts that are gone. */
  readonly gone: number;
}

/** The record in a store, for one run. */
export interface JoinRecord {
  /**
   * What fits the parameters; undefined when there is nothing. `present` has the hashes of all
   * texts of this run, ascending.
   */
  load(present: Uint8Array, breath: Breath): Promise<KnownJoin | undefined>;
  /** Replaces the record: by candidates that no limit has touched, or by nothing. */
  save(texts: JoinedTexts, candidates: Candidates | undefined): Promise<void>;
}

/** The record of joins with these parameters. */
export function createJoinRecord(store: SketchStore, parameters: AnalysisParameters): JoinRecord {
  const fingerprint = joinFingerprint(parameters);
  const stored: number[] = [];
  return {
    async load(present, breath) {
      let newest: ArrayBuffer | undefined;
      for await (const { id, buffer } of store.load(fingerprint)) {
        stored.push(id);
        newest = buffer;
      }
      return newest && (await translate(readJoin(newest), present, breath));
    },
    async save(texts, candidates) {
      const before = stored.splice(0);
      if (candidates)
        stored.push(await store.save(writeJoin(fingerprint, { ...candidates, ...texts })));
      // A crash between leaves both, of which the newer one is used.
      await store.drop(before);
    },
  };
}

/** The record in the numbers of this run. */
async function translate(
  { texts, hashes, low, high, equal }: StoredJoin,
  present: Uint8Array,
  breath: Breath,
): Promise<KnownJoin> {
  const numberOf = new Int32Array(texts).fill(-1);
  const known = new Uint8Array(present.length / HASH_BYTES);
  let gone = 0;
  // Both are ascending.
  for (let text = 0, own = 0; text < texts; text += 1) {
    let order = -1;
    while (own < known.length) {
      order = compareAt(present, own * HASH_BYTES, hashes, text * HASH_BYTES);
      if (order >= 0) break;
      own += 1;
    }
    if (own < known.length && order === 0) {
      numberOf[text] = own;
      known[own] = 1;
    } else gone += 1;
    const pause = breath.step(2);
    if (pause) await pause;
  }
  const pairs = createPairList();
  for (let pair = 0; pair < low.length; pair += 1) {
    const [a, b] = [numberOf[low[pair] ?? 0] ?? -1, numberOf[high[pair] ?? 0] ?? -1];
    if (a >= 0 && b >= 0) pairs.push(a, b, equal[pair] ?? 0);
    const pause = breath.step(1);
    if (pause) await pause;
  }
  const fresh: number[] = [];
  for (const [text, isKnown] of known.entries()) if (isKnown === 0) fresh.push(text);
  return { pairs: pairs.take(), fresh: Uint32Array.from(fresh), gone };
}

/** Order of two hashes: negative, 0 or positive. */
function compareAt(a: Uint8Array, atA: number, b: Uint8Array, atB: number): number {
  for (let i = 0; i < HASH_BYTES; i += 1) {
    const difference = (a[atA + i] ?? 0) - (b[atB + i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

function joinFingerprint(parameters: AnalysisParameters): Uint8Array {
  return createHash("sha256")
    .update(parametersFingerprint(parameters))
    .update(`join 1 ${safeJaccardFloor(parameters)}`)
    .digest();
}
