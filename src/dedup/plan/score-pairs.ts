/** Verifies given pairs of documents on the pool, whatever an analysis has found of them. */
import { randomUUID } from "node:crypto";
import { scoresAt } from "../../../workers/cover/score-columns.ts";
import { verify } from "../../../workers/tasks.ts";
import type { VerifyInput } from "../../../workers/tasks/verify.ts";
import { SAME_TEXT } from "../../../workers/verify/pair-verifier.ts";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import { coverParametersOf } from "../analysis/parameters.ts";
import type { CoverParameters } from "../analysis/parameters.ts";
import { createSharedTexts } from "../analysis/shared-texts.ts";

/** Pairs of one task; those of one document follow one another, so that its features are made once. */
const PAIRS_AT_ONCE = 64;
/** Texts in memory at a time; only what is written becomes memory. */
const TEXT_BYTES = 256 * 2 ** 20;

export type Pair = readonly [a: number, b: number];

export interface ScorePairsInput {
  readonly pairs: readonly Pair[];
  /** As stored; undefined for a text that is gone. */
  readonly text: (document: number) => Uint8Array | undefined;
  /** Names the text of a document: those with one text are not compared. */
  readonly textHash: (document: number) => Uint8Array | undefined;
  readonly parameters: CoverParameters;
  readonly pool: Pool;
  readonly signal: AbortSignal;
}

/**
 * The scores of the pairs that reach the threshold, in input order; undefined for the others.
 * Rejects with the signal's reason.
 */
export async function scorePairs(input: ScorePairsInput): Promise<(PairScores | undefined)[]> {
  const { pairs, signal } = input;
  const results: (PairScores | undefined)[] = pairs.map((pair) =>
    haveOneText(pair, input) ? SAME_TEXT : undefined,
  );
  const open = [...pairs.keys()].filter((at) => results[at] === undefined);
  let next = 0;
  for await (const { scores, gone } of input.pool.map(verify, tasks(open, input), { signal }))
    for (const [at, isGone] of gone.entries()) {
      const found = scoresAt(scores, at);
      if (isGone === 0 && !Number.isNaN(found.confidence)) results[open[next] ?? -1] = found;
      next += 1;
    }
  return results;
}

function haveOneText([a, b]: Pair, { textHash }: ScorePairsInput): boolean {
  const [one, other] = [textHash(a), textHash(b)];
  return one !== undefined && other !== undefined && Buffer.compare(one, other) === 0;
}

async function* tasks(
  open: readonly number[],
  { pairs, text, parameters }: ScorePairsInput,
): AsyncGenerator<VerifyInput> {
  const runId = randomUUID();
  const shared = createSharedTexts((own) => own.map(text), TEXT_BYTES);
  for (let at = 0; at < open.length; at += PAIRS_AT_ONCE) {
    const some = open.slice(at, at + PAIRS_AT_ONCE).map((index) => pairs[index] as Pair);
    const documents = [...new Set(some.flat())];
    const placeOf = new Map(documents.map((document, place) => [document, place]));
    yield {
      runId,
      a: Uint32Array.from(some, ([a]) => placeOf.get(a) ?? 0),
      b: Uint32Array.from(some, ([, b]) => placeOf.get(b) ?? 0),
      texts: await shared.share(documents),
      parameters: coverParametersOf(parameters),
    };
  }
}
