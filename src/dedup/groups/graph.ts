/**
 * From verified pairs to groups: the stars of the graph, and texts that several documents share and
 * that are like no other. The scores of a group are the mean over its verified pairs of
 * *documents*: an edge between two texts counts once for each pair of documents it stands for, a
 * pair of equal texts counts as 1/1/1/1.
 */
import type { Steps } from "./steps.ts";
import { starSteps } from "./stars.ts";
import type { Graph, GraphInput, Scores } from "./vertices.ts";
import { graphSteps } from "./vertices.ts";

/** The most pairs a group keeps. */
export const PAIR_LIMIT = 4_096;

/** A verified pair of members that have different texts, by their index in `members`. */
export interface FoundPair extends Scores {
  readonly a: number;
  readonly b: number;
}

/** A group as an analysis found it. */
export interface FoundGroup {
  /** Document numbers, ascending. */
  readonly members: readonly number[];
  /**
   * For each member the index of the member that represents its text: members with the same one are
   * equal texts.
   */
  readonly texts: readonly number[];
  /**
   * One pair for each two texts, at most PAIR_LIMIT: those of the star's centre first, then by
   * confidence.
   */
  readonly pairs: readonly FoundPair[];
  /** Means over all verified pairs of documents. */
  readonly scores: Scores;
  /** Verified pairs of documents, not limited. */
  readonly verified: number;
}

/** All groups, in an order that depends on their texts alone. */
export function* groupSteps(input: GraphInput): Steps<FoundGroup[]> {
  const graph = yield* graphSteps(input);
  const groups: FoundGroup[] = [];
  const marks = new Int32Array(graph.vertices.length).fill(-1);
  for (const star of yield* starSteps(graph)) groups.push(yield* describeSteps(graph, star, marks));
  for (const [index, vertex] of graph.vertices.entries()) {
    const alone = graph.start[index] === graph.start[index + 1];
    if (alone && vertex.equal && vertex.documents.length > 1)
      groups.push(yield* describeSteps(graph, [index], marks));
  }
  return groups;
}

/** `marks` holds for each vertex the last star it was seen in, by its centre. */
function* describeSteps(
  graph: Graph,
  star: readonly number[],
  marks: Int32Array,
): Steps<FoundGroup> {
  const centre = star[0] ?? 0;
  const members = star
    .flatMap((vertex) => graph.vertices[vertex]?.documents ?? [])
    .sort((a, b) => a - b);
  const indexOf = new Map<number, number>();
  for (const [index, member] of members.entries()) indexOf.set(member, index);
  const representatives = new Map<number, readonly number[]>();
  const texts = members.map((_, index) => index);
  const mean = createMean();
  for (const vertex of star) {
    marks[vertex] = centre;
    const { documents, equal } = graph.vertices[vertex] ?? { documents: [], equal: false };
    const own = documents.map((document) => indexOf.get(document) ?? 0);
    representatives.set(vertex, equal ? own.slice(0, 1) : own);
    if (!equal) continue;
    for (const member of own) texts[member] = own[0] ?? 0;
    mean.add(
      { confidence: 1, jaccard: 1, fuzzy: 1, discriminative: 1 },
      (own.length * (own.length - 1)) / 2,
    );
  }
  const best = createBestPairs();
  const inside = star.toSorted((a, b) => a - b);
  let steps = 0;
  for (const low of inside) {
    for (
      let at = graph.start[low] as number;
      at < (graph.start[low + 1] as number);
      at++, steps++
    ) {
      const high = graph.to[at] as number;
      const scores = graph.edges[graph.edge[at] as number];
      if (high < low || marks[high] !== centre || !scores) continue;
      mean.add(scores, sizeOf(graph, low) * sizeOf(graph, high));
      const central = low === centre || high === centre;
      for (const a of representatives.get(low) ?? [])
        for (const b of representatives.get(high) ?? [])
          best.add({ a: Math.min(a, b), b: Math.max(a, b), ...scores }, central);
    }
    if (steps > 2048) {
      steps = 0;
      yield;
    }
  }
  yield;
  return { members, texts, pairs: best.pairs(), scores: mean.scores(), verified: mean.count() };
}

function sizeOf(graph: Graph, vertex: number): number {
  return graph.vertices[vertex]?.documents.length ?? 0;
}

interface Mean {
  add(scores: Scores, times: number): void;
  scores(): Scores;
  count(): number;
}

function createMean(): Mean {
  let count = 0;
  let [confidence, jaccard, fuzzy, discriminative] = [0, 0, 0, 0];
  return {
    add(scores, times) {
      count += times;
      confidence += scores.confidence * times;
      jaccard += scores.jaccard * times;
      fuzzy += scores.fuzzy * times;
      discriminative += scores.discriminative * times;
    },
    scores: () => ({
      confidence: confidence / count,
      jaccard: jaccard / count,
      fuzzy: fuzzy / count,
      discriminative: discriminative / count,
    }),
    count: () => count,
  };
}

interface RankedPair {
  readonly pair: FoundPair;
  readonly central: boolean;
}

/** Keeps the best PAIR_LIMIT pairs; never holds more than twice as many. */
function createBestPairs(): { add(pair: FoundPair, central: boolean): void; pairs(): FoundPair[] } {
  const kept: RankedPair[] = [];
  let worst: RankedPair | undefined;
  const cut = (): void => {
    kept.sort(compareRanked);
    kept.length = Math.min(kept.length, PAIR_LIMIT);
  };
  return {
    add(pair, central) {
      const ranked = { pair, central };
      if (worst && compareRanked(ranked, worst) > 0) return;
      if (kept.push(ranked) < 2 * PAIR_LIMIT) return;
      cut();
      worst = kept.at(-1);
    },
    pairs() {
      cut();
      return kept.map(({ pair }) => pair);
    },
  };
}

function compareRanked(x: RankedPair, y: RankedPair): number {
  return (
    Number(y.central) - Number(x.central) ||
    y.pair.confidence - x.pair.confidence ||
    x.pair.a - y.pair.a ||
    x.pair.b - y.pair.b
  );
}
