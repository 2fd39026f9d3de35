/**
 * A cover by stars: the vertex with most uncovered edges becomes a centre, its star is the centre
 * and all its neighbours, the edges between members are covered; again until no edge is uncovered.
 * Any two members of a star are at most two edges apart and every edge lies in a star, so a chain
 * of near-misses becomes several small groups and never a giant.
 *
 * A choice looks at nothing outside its component, so choosing over the whole graph gives what
 * choosing component by component would. A vertex is a centre at most once: all stars together have
 * at most V + 2E members.
 */
import type { Steps } from "./steps.ts";
import type { Graph } from "./vertices.ts";

/** A star: the centre first, then its neighbours in canonical order. */
export type Star = readonly number[];

/**
 * The stars that cover every edge, most uncovered edges first; ties by the sum of scores, then by
 * canonical order.
 */
export function* starSteps(graph: Graph): Steps<Star[]> {
  const { vertices, start, to } = graph;
  const open = openEdges(graph);
  const heap = createHeap(open.count, yield* scoreSums(graph));
  for (let vertex = 0; vertex < vertices.length; vertex++)
    if (open.count[vertex]) heap.push(vertex);
  const inStar = new Uint8Array(vertices.length);
  const stars: Star[] = [];
  for (let centre = heap.pop(); centre !== undefined; centre = heap.pop()) {
    const star = [centre, ...to.subarray(start[centre], start[centre + 1])];
    for (const member of star) inStar[member] = 1;
    let steps = 0;
    for (const member of star) {
      steps += open.cover(member, (other) => inStar[other] === 1);
      if (steps > 4096) {
        steps = 0;
        yield;
      }
    }
    for (const member of star) inStar[member] = 0;
    stars.push(star);
    yield;
  }
  return stars;
}

/**
 * The uncovered edges of each vertex: the first `count` entries of its list, which shrinks from
 * behind.
 */
interface OpenEdges {
  readonly count: Uint32Array;
  /** Drops the vertex's entries for which `covered` holds; returns the entries looked at. */
  cover(vertex: number, covered: (other: number) => boolean): number;
}

function openEdges({ vertices, start, to }: Graph): OpenEdges {
  const order = Uint32Array.from(to.keys());
  const count = new Uint32Array(vertices.length);
  for (let vertex = 0; vertex < vertices.length; vertex++)
    count[vertex] = (start[vertex + 1] as number) - (start[vertex] as number);
  const cover = (vertex: number, covered: (other: number) => boolean): number => {
    const first = start[vertex] as number;
    const before = count[vertex] as number;
    let kept = 0;
    for (let i = 0; i < before; i++) {
      const at = order[first + i] as number;
      if (!covered(to[at] as number)) order[first + kept++] = at;
    }
    count[vertex] = kept;
    return before;
  };
  return { count, cover };
}

function* scoreSums({ vertices, start, edge, edges }: Graph): Steps<Float64Array> {
  const sums = new Float64Array(vertices.length);
  for (let vertex = 0; vertex < vertices.length; vertex++) {
    let sum = 0;
    for (let at = start[vertex] as number; at < (start[vertex + 1] as number); at++)
      sum += edges[edge[at] as number]?.confidence ?? 0;
    sums[vertex] = sum;
    if (vertex % 1024 === 1023) yield;
  }
  return sums;
}

/**
 * Vertices by uncovered edges. Counts only fall, so an entry that is out of date is put back when
 * it comes up.
 */
interface Heap {
  push(vertex: number): void;
  /** The vertex with most uncovered edges; nothing when no edge is uncovered. */
  pop(): number | undefined;
}

function createHeap(count: Uint32Array, sums: Float64Array): Heap {
  const items: number[] = [];
  const queued = new Uint32Array(count.length);
  const before = (a: number, b: number): boolean => {
    const byCount =
      (queued[a] as number) - (queued[b] as number) || (sums[a] as number) - (sums[b] as number);
    return byCount > 0 || (byCount === 0 && a < b);
  };
  const push = (vertex: number): void => {
    queued[vertex] = count[vertex] as number;
    let at = items.push(vertex) - 1;
    for (
      let parent = (at - 1) >> 1;
      at > 0 && before(vertex, items[parent] as number);
      parent = (at - 1) >> 1
    ) {
      items[at] = items[parent] as number;
      at = parent;
    }
    items[at] = vertex;
  };
  const take = (): number | undefined => {
    const top = items[0];
    const last = items.pop();
    if (top === undefined || last === undefined || items.length === 0) return top;
    let at = 0;
    for (let child = 1; child < items.length; child = 2 * at + 1) {
      if (child + 1 < items.length && before(items[child + 1] as number, items[child] as number))
        child++;
      if (!before(items[child] as number, last)) break;
      items[at] = items[child] as number;
      at = child;
    }
    items[at] = last;
    return top;
  };
  const pop = (): number | undefined => {
    for (let vertex = take(); vertex !== undefined; vertex = take()) {
      if (queued[vertex] === count[vertex]) return vertex;
      if ((count[vertex] as number) > 0) push(vertex);
    }
    return undefined;
  };
  return { push, pop };
}
