/** Groups as covers find them, and what covering needs. */
import type { Pool } from "../../kernel/pool/types.ts";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import type { VertexGraph } from "../groups/vertices.ts";
import type { CoverParameters } from "./parameters.ts";
import type { TextSource } from "./sign-phase.ts";
import type { Verdicts } from "./verdicts.ts";

/** A centre and a member of its group. */
export interface StarPair {
  readonly vertex: number;
  readonly scores: PairScores;
}

/** A group as a cover found it: a centre, and every member with its verified pair. */
export interface Star {
  readonly centre: number;
  readonly members: readonly StarPair[];
}

/** Input and dependencies of the cover phase. */
export interface CoverDeps {
  readonly vertices: VertexGraph;
  /** Words of each text. */
  readonly wordCount: (text: number) => number;
  readonly text: TextSource;
  readonly parameters: CoverParameters;
  readonly verdicts: Verdicts;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  /** Vertices whose pairs are all settled. */
  progress(done: number): void;
}
