/**
 * The components of a candidate graph: sets of vertices that no pair leaves, each of which is
 * covered on its own.
 */
import type { CandidateGraph } from "../../../workers/cover/cover.ts";
import type { Steps } from "../groups/steps.ts";

/** Vertices by component. */
export interface Components {
  readonly count: number;
  /** Where the members of a component begin in `members`; one entry more than components. */
  readonly starts: Uint32Array;
  /** Vertices, ascending in each component. */
  readonly members: Uint32Array;
}

/** Components in the order of their lowest vertex, by union-find. Near-linear. */
export function* componentSteps({ starts, others }: CandidateGraph): Steps<Components> {
  const vertices = starts.length - 1;
  const parent = Uint32Array.from({ length: vertices }, (_, vertex) => vertex);
  const rootOf = (vertex: number): number => {
    let at = vertex;
    while (parent[at] !== at) {
      parent[at] = parent[parent[at] ?? 0] ?? 0;
      at = parent[at] ?? 0;
    }
    return at;
  };
  let steps = 0;
  for (let vertex = 0; vertex < vertices; vertex += 1) {
    for (let entry = starts[vertex] ?? 0; entry < (starts[vertex + 1] ?? 0); entry += 1) {
      const other = others[entry] ?? 0;
      if (other > vertex) break;
      const [a, b] = [rootOf(vertex), rootOf(other)];
      if (a < b) parent[b] = a;
      else parent[a] = b;
      steps += 1;
    }
    steps += 1;
    if (steps > 65_536) {
      steps = 0;
      yield;
    }
  }
  yield;
  return yield* byComponent(parent, rootOf);
}

/** A counting sort of the vertices by their root, which is the lowest vertex of its component. */
function* byComponent(parent: Uint32Array, rootOf: (vertex: number) => number): Steps<Components> {
  const vertices = parent.length;
  const sizes = new Uint32Array(vertices);
  for (let vertex = 0; vertex < vertices; vertex += 1) {
    const root = rootOf(vertex);
    parent[vertex] = root;
    sizes[root] = (sizes[root] ?? 0) + 1;
    if (vertex % 65_536 === 65_535) yield;
  }
  const number = new Uint32Array(vertices);
  const starts: number[] = [];
  let total = 0;
  for (let root = 0; root < vertices; root += 1) {
    if (sizes[root] === 0) continue;
    number[root] = starts.length;
    starts.push(total);
    total += sizes[root] ?? 0;
    if (starts.length % 65_536 === 0) yield;
  }
  starts.push(total);
  const next = Uint32Array.from(starts);
  const members = new Uint32Array(vertices);
  for (let vertex = 0; vertex < vertices; vertex += 1) {
    const component = number[parent[vertex] ?? 0] ?? 0;
    const at = next[component] ?? 0;
    next[component] = at + 1;
    members[at] = vertex;
    if (vertex % 65_536 === 65_535) yield;
  }
  return { count: starts.length - 1, starts: Uint32Array.from(starts), members };
}

/** Some whole components as a graph of their own. */
export interface Subgraph {
  readonly graph: CandidateGraph;
  /** The vertex of the whole graph that each vertex stands for, ascending. */
  readonly vertices: Uint32Array;
}

/**
 * Cuts whole components out of a graph; `vertices` is ascending. Time is that of the components;
 * scratch of four bytes a vertex and a pair is kept between cuts.
 */
export function createSubgraphs(whole: CandidateGraph): (vertices: Uint32Array) => Subgraph {
  const local = new Uint32Array(whole.starts.length);
  const pairOf = new Uint32Array(whole.weights.length);
  return (vertices) => {
    let entries = 0;
    for (const [at, vertex] of vertices.entries()) {
      local[vertex] = at;
      entries += (whole.starts[vertex + 1] ?? 0) - (whole.starts[vertex] ?? 0);
    }
    const starts = new Uint32Array(vertices.length + 1);
    const others = new Uint32Array(entries);
    const pairs = new Uint32Array(entries);
    const weights = new Uint8Array(entries / 2);
    let count = 0;
    let at = 0;
    for (const [own, vertex] of vertices.entries()) {
      const end = whole.starts[vertex + 1] ?? 0;
      for (let entry = whole.starts[vertex] ?? 0; entry < end; entry += 1) {
        const pair = whole.pairs[entry] ?? 0;
        const other = local[whole.others[entry] ?? 0] ?? 0;
        // The lower vertex of a pair comes first.
        if (own < other) {
          pairOf[pair] = count;
          weights[count] = whole.weights[pair] ?? 0;
          count += 1;
        }
        others[at] = other;
        pairs[at] = pairOf[pair] ?? 0;
        at += 1;
      }
      starts[own + 1] = at;
    }
    return { graph: { starts, others, pairs, weights }, vertices };
  };
}
