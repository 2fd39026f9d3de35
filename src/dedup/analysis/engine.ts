/**
 * The analysis: distinct texts in, verified pairs out. The edges depend on the texts and the
 * parameters alone: not on the number of threads, the order of the classes, what a store remembered
 * or where a run was cut off.
 */
import type { Pool } from "../../kernel/pool/types.ts";
import { createArena } from "./arena.ts";
import { createBreath } from "./breath.ts";
import { createClassIndex } from "./class-index.ts";
import { sortedEdges } from "./edges.ts";
import type { Edges } from "./edges.ts";
import { joinAll } from "./join-phase.ts";
import { createNeighbours } from "./neighbours.ts";
import { checkParameters } from "./parameters.ts";
import type { AnalysisParameters } from "./parameters.ts";
import { signAll } from "./sign-phase.ts";
import type { TextSource } from "./sign-phase.ts";
import type { SketchStore } from "./sketch-store.ts";
import { verifyAll } from "./verify-phase.ts";

/** One distinct normalised text with words enough. */
export interface TextClass {
  /** SHA-256 of the normalised text, 32 bytes. */
  readonly hash: Uint8Array;
  readonly wordCount: number;
}

/** The phases in their order: classes signed, bands joined, pairs verified. */
export type AnalysisPhase = "sign" | "join" | "verify";

/** What an analysis works on. */
export interface AnalysisInput {
  /** Distinct texts. Edges refer to their places here. */
  readonly classes: readonly TextClass[];
  /**
   * Compressed texts (zstd) of classes that the store does not know; undefined for one that is gone
   * meanwhile.
   */
  readonly text: TextSource;
  readonly sketches: SketchStore;
  readonly parameters: AnalysisParameters;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  /** Called often; `done` reaches `total` at the end of each phase. */
  progress(phase: AnalysisPhase, done: number, total: number): void;
}

/** Counts of an analysis. */
export interface AnalysisStats {
  readonly classes: number;
  /**
   * Classes signed in this run, found in the store, and left out because their text was gone or
   * another one.
   */
  readonly signed: number;
  readonly reused: number;
  readonly missing: number;
  /** Pairs that met in a band and passed the cheap tests. */
  readonly candidates: number;
  /** Pairs scored exactly. */
  readonly verified: number;
  readonly edges: number;
  /**
   * Classes with more candidates than are looked at: such a class may lack edges to others like it.
   */
  readonly limitedClasses: number;
}

/** What an analysis found. */
export interface AnalysisOutcome {
  readonly edges: Edges;
  readonly stats: AnalysisStats;
}

/**
 * Runs an analysis. Rejects with the signal's reason within 250 ms of it firing; throws `invalid`
 * for parameters out of range.
 */
export async function analyse(input: AnalysisInput): Promise<AnalysisOutcome> {
  const { classes, parameters, pool, signal, sketches: store } = input;
  checkParameters(parameters);
  signal.throwIfAborted();
  const classIndex = createClassIndex(classes);
  const arena = createArena(classIndex, {
    numBands: parameters.numBands,
    sketchSize: parameters.numPermutations,
  });
  const signing = await signAll({
    classes,
    classIndex,
    arena,
    store,
    parameters,
    text: input.text,
    pool,
    signal,
    progress: (done) => input.progress("sign", done, classes.length),
  });
  const neighbours = createNeighbours(classes.length, (a, b) => classIndex.compare(a, b));
  await joinAll({
    columns: arena.columns(),
    parameters,
    neighbours,
    pool,
    signal,
    progress: (done) => input.progress("join", done, parameters.numBands),
  });
  const limitedClasses = neighbours.limited;
  const candidates = await neighbours.candidates(createBreath(signal));
  const verified = candidates.highs.length;
  input.progress("verify", 0, verified);
  const edges = sortedEdges(
    await verifyAll({
      candidates,
      arena,
      store,
      parameters,
      pool,
      signal,
      progress: (done) => input.progress("verify", done, verified),
    }),
  );
  const stats = {
    classes: classes.length,
    ...signing,
    missing: classes.length - arena.signed,
    candidates: neighbours.added,
    verified,
    edges: edges.length,
    limitedClasses,
  };
  return { edges, stats };
}
