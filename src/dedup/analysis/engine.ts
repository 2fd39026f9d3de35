/**
 * The analysis: distinct texts in, groups out. The groups depend on the texts, the parameters and
 * the rejections alone: not on the number of threads, the order of the texts, what a store
 * remembered or where a run was cut off.
 */
import type { Pool } from "../../kernel/pool/types.ts";
import { safeJaccardFloor } from "../../../workers/score/confidence.ts";
import { bytesFor } from "../../../workers/sketch/estimate.ts";
import { vertexSteps } from "../groups/vertices.ts";
import type { VertexGraph } from "../groups/vertices.ts";
import { createArena } from "./arena.ts";
import { breathe, createBreath } from "./breath.ts";
import { createClassIndex } from "./class-index.ts";
import { coverAll } from "./cover-phase.ts";
import type { Star } from "./star.ts";
import { joinAll, joinFresh } from "./join-phase.ts";
import type { JoinDeps } from "./join-phase.ts";
import { createJoinRecord } from "./join-record.ts";
import type { JoinedTexts } from "./join-block.ts";
import { createNeighbours } from "./neighbours.ts";
import { checkParameters } from "./parameters.ts";
import type { AnalysisParameters } from "./parameters.ts";
import { signAll } from "./sign-phase.ts";
import type { TextSource } from "./sign-phase.ts";
import type { SketchStore } from "./sketch-store.ts";
import { orderByHash } from "./text-order.ts";
import { createNoVerdicts, loadVerdicts } from "./verdicts.ts";

/** One distinct normalised text with words enough. */
export interface TextClass {
  /** SHA-256 of the normalised text, 32 bytes. */
  readonly hash: Uint8Array;
  readonly wordCount: number;
  /** Numbers of the documents that have it. */
  readonly documents: readonly number[];
}

/** The phases in their order: texts signed, bands joined, components covered. */
export type AnalysisPhase = "sign" | "join" | "cover";

/** What an analysis works on. */
export interface AnalysisInput {
  /** Distinct texts. */
  readonly classes: readonly TextClass[];
  /** Texts by their place in `classes`. */
  readonly text: TextSource;
  /** Sets of documents that a reviewer marked as no duplicates of each other. */
  readonly rejections?: readonly (readonly number[])[];
  readonly sketches: SketchStore;
  /** Keeps the scores of verified pairs for the next analysis; without it none are kept. */
  readonly verdicts?: SketchStore;
  /** Keeps the candidate pairs for the next analysis; without it every join is a full one. */
  readonly joins?: SketchStore;
  readonly parameters: AnalysisParameters;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  /** Called often; `done` reaches `total` at the end of each phase. */
  progress(phase: AnalysisPhase, done: number, total: number): void;
}

/** Counts of an analysis. */
export interface AnalysisStats {
  readonly classes: number;
  /** Classes signed in this run, found in the store, and left out because their text was gone. */
  readonly signed: number;
  readonly reused: number;
  readonly missing: number;
  /** Pairs of texts that met in a band and whose sketches are alike enough. */
  readonly candidates: number;
  /** Pairs of texts that were verified. */
  readonly verified: number;
  /** Verified pairs at or above the threshold: those of the groups. */
  readonly edges: number;
  /**
   * Texts with more candidates than are looked at: such a text may lack groups with others like it.
   */
  readonly limitedClasses: number;
}

/** What an analysis found. */
export interface AnalysisOutcome {
  /** The texts in the order of their hashes. */
  readonly texts: readonly TextClass[];
  readonly vertices: VertexGraph;
  readonly stars: readonly Star[];
  readonly stats: AnalysisStats;
}

/** A pair whose estimate is at least this is likely to be a duplicate. */
export const STRONG_ESTIMATE = 0.66;

/**
 * Runs an analysis. Rejects with the signal's reason within 250 ms of it firing; throws `invalid`
 * for parameters out of range.
 */
export async function analyse(input: AnalysisInput): Promise<AnalysisOutcome> {
  const { parameters, pool, signal, sketches: store } = input;
  checkParameters(parameters);
  signal.throwIfAborted();
  const breath = createBreath(signal);
  const order = orderByHash(input.classes);
  const texts = Array.from(order.inputOf, (place) => input.classes[place] as TextClass);
  const source: TextSource = (own) => input.text(own.map((text) => order.inputOf[text] ?? 0));
  const classIndex = createClassIndex(texts);
  const arena = createArena(classIndex, {
    numBands: parameters.numBands,
    sketchSize: parameters.numPermutations,
  });
  const record = input.joins && createJoinRecord(input.joins, parameters);
  const known = await record?.load(classIndex.hashes, breath);
  // A text of the record has a signature, which only new texts are compared with.
  const isSettled = known?.fresh.length === 0;
  const signing = isSettled
    ? undefined
    : await signAll({
        classes: texts,
        readingOrder: order.rankOf,
        classIndex,
        arena,
        store,
        parameters,
        text: source,
        pool,
        signal,
        breath,
        progress: (done) => input.progress("sign", done, texts.length),
      });
  if (isSettled) input.progress("sign", texts.length, texts.length);
  const isSigned = isSettled ? () => true : arena.isSigned;
  const neighbours = createNeighbours(texts.length);
  const joinDeps: JoinDeps = {
    columns: arena.columns(),
    floor: safeJaccardFloor(parameters),
    neighbours,
    pool,
    signal,
    progress: (done) => input.progress("join", done, parameters.numBands),
  };
  const joined: JoinedTexts = { classIndex, isSigned };
  const fresh = known?.fresh.filter(isSigned);
  if (!known || !fresh || !(await joinFresh(joinDeps, { pairs: known.pairs, fresh })))
    await joinAll(joinDeps);
  const candidates = await neighbours.candidates(breath);
  const limitedClasses = neighbours.limited;
  if (!known || !fresh || fresh.length + known.gone > 0 || limitedClasses > 0)
    await record?.save(joined, limitedClasses > 0 ? undefined : candidates);
  const vertices = await breathe(
    vertexSteps({
      documents: texts.map(({ documents }) => documents),
      pairs: candidates,
      rejections: input.rejections ?? [],
      strongFrom: bytesFor(STRONG_ESTIMATE, parameters.numPermutations),
    }),
    breath,
  );
  const total = vertices.textOf.length;
  input.progress("cover", 0, total);
  const verdicts = input.verdicts
    ? await loadVerdicts(input.verdicts, { classIndex, parameters, breath })
    : createNoVerdicts();
  const { stars, verified } = await coverAll({
    vertices,
    wordCount: (text) => texts[text]?.wordCount ?? 0,
    text: source,
    parameters,
    verdicts,
    pool,
    signal,
    progress: (done) => input.progress("cover", done, total),
  });
  await verdicts.end();
  const stats = {
    classes: texts.length,
    ...(signing ?? { reused: texts.length, signed: 0 }),
    missing: isSettled ? 0 : texts.length - arena.signed,
    candidates: neighbours.added,
    verified,
    edges: stars.reduce((sum, { members }) => sum + members.length, 0),
    limitedClasses,
  };
  return { texts, vertices, stars, stats };
}
