/**
 * Covers components that are too large for one task: the pool verifies stars that do not touch one
 * another, a few at a time, and the cover goes on with whatever is ready.
 */
import type { Pool } from "../../kernel/pool/types.ts";
import { coverSteps } from "../../../workers/cover/cover.ts";
import type { Cover, OpenStar } from "../../../workers/cover/cover.ts";
import { scoresAt } from "../../../workers/cover/score-columns.ts";
import type { VerifyInput, VerifyOutput } from "../../../workers/tasks/verify.ts";
import { verify } from "../../../workers/tasks.ts";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import { SELECT_STEPS, VERDICT_STEPS, breathe, createBreath } from "./breath.ts";
import type { CoverDeps, Star, StarPair } from "./star.ts";
import { coverParametersOf } from "./parameters.ts";
import { createSharedTexts } from "./shared-texts.ts";
import type { SharedTextStore } from "./shared-texts.ts";

export interface LargeDeps extends CoverDeps {
  /** The vertices of the components, ascending. */
  readonly only: Uint32Array;
  found(star: Star): void;
  /** Vertices that are settled already, for the progress. */
  readonly settledBefore: number;
}

/** Pairs of one task, and stars put into it. */
const TASK_PAIRS = 1_024;

/** A star whose pairs are being verified, perhaps by several tasks. */
interface Pending {
  readonly star: OpenStar;
  /** By neighbour; undefined while it is not known. */
  readonly scores: (PairScores | undefined)[];
  left: number;
}

/** One pair of a pending star. */
interface Wanted {
  readonly pending: Pending;
  readonly neighbour: number;
}

let runs = 0;

/** Covers them all; answers how many pairs were verified. Rejects with the signal's reason. */
export async function coverLarge(deps: LargeDeps): Promise<number> {
  const { graph } = deps.vertices;
  const cover = await breathe(coverSteps(graph, deps.only), createBreath(deps.signal));
  const run = createRun(deps, cover);
  const stop = new AbortController();
  const signal = AbortSignal.any([deps.signal, stop.signal]);
  // One more than there are threads, so that none waits for this one.
  const loops = Math.max(2, deps.pool.status().threads + 1);
  try {
    await Promise.all(Array.from({ length: loops }, () => run.work(signal)));
  } catch (error) {
    stop.abort(error);
    throw error;
  }
  return run.verified();
}

interface Run {
  /** Verifies batch after batch until nothing is open. */
  work(signal: AbortSignal): Promise<void>;
  verified(): number;
}

function createRun(deps: LargeDeps, cover: Cover): Run {
  const { textOf } = deps.vertices;
  const { verdicts } = deps;
  const texts = createSharedTexts(deps.text);
  const breath = createBreath(deps.signal);
  const runId = `${process.pid}.${(runs += 1)}`;
  const total = cover.open;
  const waiting: Wanted[] = [];
  let verified = 0;
  let changed = Promise.withResolvers<void>();

  function announce(): void {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  }

  async function settle({ star, scores }: Pending): Promise<void> {
    const passed = new Uint8Array(star.pairs.length);
    const members: StarPair[] = [];
    for (const [i, vertex] of star.neighbours.entries()) {
      const own = scores[i];
      if (!own || Number.isNaN(own.confidence)) continue;
      passed[i] = 1;
      members.push({ vertex, scores: own });
    }
    if (members.length > 0) deps.found({ centre: star.centre, members });
    await breathe(cover.applySteps(star, passed), breath);
    announce();
  }

  /** Notes the scores of a pair; whether all of its star are known now. */
  function know({ pending, neighbour }: Wanted, scores: PairScores): boolean {
    pending.scores[neighbour] = scores;
    pending.left -= 1;
    return pending.left === 0;
  }

  /** Takes stars whose turn it is; those that verdicts settle are done at once. */
  async function refill(): Promise<void> {
    while (waiting.length < TASK_PAIRS) {
      const stars = cover.select(TASK_PAIRS);
      await breath.step(SELECT_STEPS);
      if (stars.length === 0) return;
      for (const star of stars) {
        const pending: Pending = { star, scores: [], left: star.pairs.length };
        for (const [neighbour, vertex] of star.neighbours.entries()) {
          const wanted = { pending, neighbour };
          const scores = verdicts.of(textOf[star.centre] ?? 0, textOf[vertex] ?? 0);
          if (!scores) waiting.push(wanted);
          else if (know(wanted, scores)) await settle(pending);
          const pause = breath.step(VERDICT_STEPS);
          if (pause) await pause;
        }
      }
    }
  }

  async function batch(signal: AbortSignal): Promise<Wanted[]> {
    for (;;) {
      signal.throwIfAborted();
      // Taken first, so that no change during the refill is missed.
      const next = changed.promise;
      await refill();
      const some = waiting.splice(0, TASK_PAIRS);
      if (waiting.length > 0) announce();
      if (some.length > 0 || cover.open === 0) return some;
      await next;
    }
  }

  return {
    verified: () => verified,
    async work(signal) {
      const leave = (): void => announce();
      signal.addEventListener("abort", leave, { once: true });
      try {
        for (let some = await batch(signal); some.length > 0; some = await batch(signal)) {
          const { scores, gone } = await score(some, { deps, texts, runId, signal });
          for (const [at, wanted] of some.entries()) {
            const own = scoresAt(scores, at);
            const { centre, neighbours } = wanted.pending.star;
            const neighbour = textOf[neighbours[wanted.neighbour] ?? 0] ?? 0;
            if (gone[at] !== 1) verdicts.note(textOf[centre] ?? 0, neighbour, own);
            if (know(wanted, own)) await settle(wanted.pending);
            const pause = breath.step(20);
            if (pause) await pause;
          }
          verified += some.length;
          await verdicts.flush();
          deps.progress(deps.settledBefore + total - cover.open);
          announce();
        }
        announce();
      } finally {
        signal.removeEventListener("abort", leave);
      }
    },
  };
}

interface ScoreOptions {
  readonly deps: LargeDeps;
  readonly texts: SharedTextStore;
  readonly runId: string;
  readonly signal: AbortSignal;
}

async function score(
  some: readonly Wanted[],
  { deps, texts, runId, signal }: ScoreOptions,
): Promise<VerifyOutput> {
  const { textOf } = deps.vertices;
  const placeOf = new Map<number, number>();
  const place = (vertex: number): number => {
    const text = textOf[vertex] ?? 0;
    const known = placeOf.get(text);
    if (known !== undefined) return known;
    placeOf.set(text, placeOf.size);
    return placeOf.size - 1;
  };
  const a = Uint32Array.from(some, ({ pending }) => place(pending.star.centre));
  const b = Uint32Array.from(some, ({ pending, neighbour }) =>
    place(pending.star.neighbours[neighbour] ?? 0),
  );
  const input: VerifyInput = {
    runId,
    a,
    b,
    texts: await texts.share([...placeOf.keys()]),
    parameters: coverParametersOf(deps.parameters),
  };
  return await runOne(deps.pool, input, signal);
}

async function runOne(pool: Pool, input: VerifyInput, signal: AbortSignal): Promise<VerifyOutput> {
  for await (const output of pool.map(verify, [input], { signal, inFlight: 1 })) return output;
  throw new Error("the pool has answered nothing");
}
