/** Third phase: from candidates to edges with exact scores. */
import type { Pool } from "../../kernel/pool/types.ts";
import type { ScoreParameters } from "../../../workers/score/confidence.ts";
import type { Payloads, VerifyInput, VerifyOutput } from "../../../workers/tasks/verify.ts";
import { verify } from "../../../workers/tasks.ts";
import type { Arena } from "./arena.ts";
import type { Edge } from "./edges.ts";
import { scoreParametersOf } from "./join-phase.ts";
import type { Candidates } from "./neighbours.ts";
import { SEGMENT_WORDS, loadSegment, planSegments } from "./payloads.ts";
import type { Segment } from "./payloads.ts";
import type { SketchStore } from "./sketch-store.ts";

export interface VerifyDeps {
  readonly candidates: Candidates;
  readonly arena: Arena;
  readonly store: SketchStore;
  readonly parameters: ScoreParameters;
  readonly pool: Pool;
  readonly signal: AbortSignal;
  /** Pairs done. */
  progress(done: number): void;
  /** Words of payloads in memory at a time, halved; for tests. */
  readonly segmentWords?: number;
}

/** Pairs of one task. */
const BATCH_PAIRS = 512;

interface Loaded {
  readonly segment: Segment;
  readonly payloads: Payloads;
}

/** Pairs as classes, beside the slots that the worker gets. */
interface Batch {
  readonly lows: Uint32Array;
  readonly highs: Uint32Array;
}

/** Scores every candidate pair; the edges, ascending when one segment held all. */
export async function verifyAll(deps: VerifyDeps): Promise<Edge[]> {
  const { candidates, arena, store, signal } = deps;
  const segments = planSegments(membersOf(candidates), arena, deps.segmentWords ?? SEGMENT_WORDS);
  const edges: Edge[] = [];
  let done = 0;
  for (const [i, segment] of segments.entries()) {
    const left: Loaded = { segment, payloads: await loadSegment(segment, arena, store, signal) };
    for (const other of segments.slice(i)) {
      const right =
        other === segment
          ? left
          : { segment: other, payloads: await loadSegment(other, arena, store, signal) };
      done = await verifyBetween(deps, left, right, edges, done);
    }
  }
  return edges;
}

async function verifyBetween(
  deps: VerifyDeps,
  left: Loaded,
  right: Loaded,
  edges: Edge[],
  before: number,
): Promise<number> {
  const waiting: Batch[] = [];
  let done = before;
  for await (const found of deps.pool.map(verify, batches(deps, left, right, waiting), {
    signal: deps.signal,
  })) {
    const batch = waiting.shift();
    if (!batch) break;
    collect(batch, found, edges);
    done += batch.lows.length;
    deps.progress(done);
  }
  return done;
}

function collect(batch: Batch, found: VerifyOutput, edges: Edge[]): void {
  for (const [i, index] of found.index.entries()) {
    edges.push({
      low: batch.lows[index] ?? 0,
      high: batch.highs[index] ?? 0,
      jaccard: found.jaccard[i] ?? 0,
      fuzzy: found.fuzzy[i] ?? 0,
      discriminative: found.discriminative[i] ?? 0,
      confidence: found.confidence[i] ?? 0,
    });
  }
}

/**
 * Pairs with their lower class in the left segment and their higher one in the right, batch by
 * batch.
 */
function* batches(
  deps: VerifyDeps,
  left: Loaded,
  right: Loaded,
  waiting: Batch[],
): Generator<VerifyInput> {
  const parameters = scoreParametersOf(deps.parameters);
  let lows: number[] = [];
  let highs: number[] = [];
  const input = (): VerifyInput => {
    const batch = { lows: Uint32Array.from(lows), highs: Uint32Array.from(highs) };
    waiting.push(batch);
    lows = [];
    highs = [];
    return {
      inA: left.payloads,
      inB: right.payloads,
      a: slotsOf(left.segment, batch.lows),
      b: slotsOf(right.segment, batch.highs),
      parameters,
    };
  };
  const last = right.segment.classes.at(-1) ?? 0;
  const first = right.segment.classes[0] ?? 0;
  for (const low of left.segment.classes) {
    for (const high of rowOf(deps.candidates, low)) {
      if (high < first || high > last) continue;
      lows.push(low);
      highs.push(high);
      if (lows.length === BATCH_PAIRS) yield input();
    }
  }
  if (lows.length > 0) yield input();
}

function rowOf(candidates: Candidates, low: number): Uint32Array {
  return candidates.highs.subarray(candidates.starts[low], candidates.starts[low + 1]);
}

/** Every class that is in a pair, ascending. */
function membersOf(candidates: Candidates): Uint32Array {
  const classes = candidates.starts.length - 1;
  const member = new Uint8Array(classes);
  let count = 0;
  const note = (index: number): void => {
    if (member[index] === 0) count += 1;
    member[index] = 1;
  };
  for (const high of candidates.highs) note(high);
  for (let low = 0; low < classes; low += 1)
    if (candidates.starts[low] !== candidates.starts[low + 1]) note(low);
  const members = new Uint32Array(count);
  let at = 0;
  for (let index = 0; index < classes; index += 1) if (member[index] === 1) members[at++] = index;
  return members;
}

function slotsOf(segment: Segment, classes: Uint32Array): Uint32Array {
  return classes.map((index) => slotOf(segment.classes, index));
}

function slotOf(classes: Uint32Array, index: number): number {
  let from = 0;
  let to = classes.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((classes[middle] ?? 0) < index) from = middle + 1;
    else to = middle;
  }
  return from;
}
