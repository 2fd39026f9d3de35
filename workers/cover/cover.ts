/**
 * The greedy cover of a graph of candidate pairs by stars. The vertex with the greatest degree
 * becomes a centre; its open pairs are verified; the centre and the neighbours that pass are a
 * group; open pairs between members of the group are covered; again until no pair is open.
 *
 * Two centres at least three pairs apart do not touch each other's pairs, so they may be verified
 * at the same time, in any order: `select` gives every centre that has the greatest degree among
 * all vertices within two pairs of it, and the result is that of taking them one by one.
 *
 *      select ─▶ star: centre, open neighbours ─▶ verified elsewhere ─▶ apply(star, passed)
 *         ▲                                                                    │
 *         └────────── degrees of the star's members fall, pairs close ◀────────┘
 */

/** Candidate pairs by vertex. Vertices are in an order of their own: a lower one wins ties. */
export interface CandidateGraph {
  /** Where the entries of a vertex begin; one more than there are vertices. */
  readonly starts: Uint32Array;
  /** The other vertex of each entry. */
  readonly others: Uint32Array;
  /** The pair of each entry; each pair has two entries. */
  readonly pairs: Uint32Array;
  /** What a pair adds to the degree of both its vertices, by pair; at least 1. */
  readonly weights: Uint8Array;
}

/** A centre with its open neighbours, to be verified against it. */
export interface OpenStar {
  readonly centre: number;
  readonly neighbours: Uint32Array;
  /** The pair of the centre with each neighbour. */
  readonly pairs: Uint32Array;
}

/** A cover under way. */
export interface Cover {
  /** Vertices that still have an open pair; 0 at the end. */
  readonly open: number;
  /**
   * Stars that may be verified now: all there are, or a few more pairs than `limitPairs`. Each has
   * to come back through `apply`. None while everything open waits for stars given out before.
   */
  select(limitPairs: number): OpenStar[];
  /** Takes the verdicts of a star: 1 for each neighbour that passed, else 0. */
  apply(star: OpenStar, passed: Uint8Array): void;
  /**
   * The same in steps of less than a millisecond, for a thread with other work. Between two steps
   * other stars may be selected and applied.
   */
  applySteps(star: OpenStar, passed: Uint8Array): Generator<void, void>;
}

/** Vertices in a row that `select` may find not ready before it gives up looking for more. */
const PATIENCE = 64;
/** Entries of such vertices that it looks at: about a millisecond. */
const PATIENCE_ENTRIES = 65_536;
/** Entries of one step. */
const STEP_ENTRIES = 32_768;

/**
 * A cover of which nothing is verified; with `only`, of those vertices, which have to be whole
 * components. Takes 5 bytes an entry and 28 a vertex.
 */
export function createCover(graph: CandidateGraph, only?: Uint32Array): Cover {
  return drain(coverSteps(graph, only));
}

/** `createCover` in steps. */
export function* coverSteps(graph: CandidateGraph, only?: Uint32Array): Generator<void, Cover> {
  const { starts, others, weights } = graph;
  const vertices = starts.length - 1;
  const entries = yield* openEntries(graph);
  const { count, left, at, closed } = entries;
  const degrees = yield* degreesOf(graph);
  const heap = createHeap(degrees);
  // How many selected stars hold a vertex, and the last selection that has looked at it.
  const held = new Uint32Array(vertices);
  const seen = new Uint32Array(vertices);
  // One more than the centre of the star that is being applied to a vertex.
  const centreOf = new Uint32Array(vertices);
  let selection = 0;
  let open = 0;
  for (const vertex of only ?? count.keys()) {
    if (count[vertex] === 0) continue;
    open += 1;
    heap.push(vertex);
    if (open % 8_192 === 0) yield;
  }

  /** Whether no better vertex is within two pairs; marks the neighbourhood as looked at. */
  function isReady(vertex: number): boolean {
    entries.compact(vertex);
    let ready = held[vertex] === 0 && seen[vertex] !== selection;
    seen[vertex] = selection;
    const first = starts[vertex] ?? 0;
    for (let i = 0; i < (count[vertex] ?? 0); i += 1) {
      const other = others[at[first + i] ?? 0] ?? 0;
      if (held[other] !== 0 || seen[other] === selection) ready = false;
      seen[other] = selection;
    }
    return ready;
  }

  function hold(star: OpenStar, by: 1 | -1): void {
    held[star.centre] = (held[star.centre] ?? 0) + by;
    for (const vertex of star.neighbours) held[vertex] = (held[vertex] ?? 0) + by;
  }

  function starOf(centre: number): OpenStar {
    const first = starts[centre] ?? 0;
    const own = at.slice(first, first + (count[centre] ?? 0)).sort();
    return {
      centre,
      neighbours: own.map((entry) => others[entry] ?? 0),
      pairs: own.map((entry) => graph.pairs[entry] ?? 0),
    };
  }

  function close(pair: number, a: number, b: number): void {
    closed[pair] = 1;
    for (const end of [a, b]) {
      degrees[end] = (degrees[end] ?? 0) - (weights[pair] ?? 0);
      left[end] = (left[end] ?? 0) - 1;
      if (left[end] === 0) open -= 1;
    }
  }

  function* coverInside(members: readonly number[]): Generator<void, void> {
    // Others may be applied between two steps; they share no member with this one.
    const own = members[0] ?? 0;
    for (const member of members) centreOf[member] = own + 1;
    let steps = 0;
    for (const member of members) {
      const first = starts[member] ?? 0;
      steps += count[member] ?? 0;
      if (steps > STEP_ENTRIES) {
        steps = 0;
        yield;
      }
      for (let i = 0; i < (count[member] ?? 0); i += 1) {
        const entry = at[first + i] ?? 0;
        const other = others[entry] ?? 0;
        const pair = graph.pairs[entry] ?? 0;
        if (closed[pair] === 0 && centreOf[other] === own + 1) close(pair, member, other);
      }
    }
    for (const member of members) centreOf[member] = 0;
  }

  function* applySteps(star: OpenStar, passed: Uint8Array): Generator<void, void> {
    const members = [star.centre];
    for (const [i, neighbour] of star.neighbours.entries()) {
      close(star.pairs[i] ?? 0, star.centre, neighbour);
      if (passed[i] === 1) members.push(neighbour);
    }
    if (members.length > 2) yield* coverInside(members);
    let steps = 0;
    for (const vertex of [star.centre, ...star.neighbours]) {
      steps += entries.tidy(vertex);
      if (steps <= STEP_ENTRIES) continue;
      steps = 0;
      yield;
    }
    // Nobody may select what is near before its degrees are final.
    hold(star, -1);
  }

  return {
    get open() {
      return open;
    },
    select(limitPairs) {
      selection += 1;
      const stars: OpenStar[] = [];
      const waiting: number[] = [];
      let pairs = 0;
      let [misses, entriesMissed] = [0, 0];
      while (pairs < limitPairs && misses < PATIENCE && entriesMissed < PATIENCE_ENTRIES) {
        const vertex = heap.pop();
        if (vertex === undefined) break;
        if (!isReady(vertex)) {
          waiting.push(vertex);
          misses += 1;
          entriesMissed += count[vertex] ?? 0;
          continue;
        }
        [misses, entriesMissed] = [0, 0];
        const star = starOf(vertex);
        hold(star, 1);
        stars.push(star);
        pairs += star.pairs.length;
      }
      for (const vertex of waiting) heap.push(vertex);
      return stars;
    },
    apply: (star, passed) => drain(applySteps(star, passed)),
    applySteps,
  };
}

/** Runs a computation in steps to its end. */
function drain<T>(steps: Generator<void, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/**
 * The entries of each vertex: the first `count` in its stretch of `at`. At most half of them are
 * closed, so that a vertex is compacted in time linear in its entries over a whole cover.
 */
interface OpenEntries {
  readonly count: Uint32Array;
  /** Open pairs of each vertex. */
  readonly left: Uint32Array;
  readonly at: Uint32Array;
  /** 1 for a pair that was verified or covered. */
  readonly closed: Uint8Array;
  /** Drops the closed ones of a vertex. */
  compact(vertex: number): void;
  /** The same once they are more than the open ones; answers the entries looked at. */
  tidy(vertex: number): number;
}

function* openEntries({
  starts,
  others,
  pairs,
  weights,
}: CandidateGraph): Generator<void, OpenEntries> {
  const at = new Uint32Array(others.length);
  for (let entry = 0; entry < at.length; entry += 1) {
    at[entry] = entry;
    if (entry % 262_144 === 262_143) yield;
  }
  const count = new Uint32Array(starts.length - 1);
  for (let vertex = 0; vertex < count.length; vertex += 1)
    count[vertex] = (starts[vertex + 1] ?? 0) - (starts[vertex] ?? 0);
  yield;
  const left = count.slice();
  const closed = new Uint8Array(weights.length);

  function compact(vertex: number): void {
    const first = starts[vertex] ?? 0;
    const before = count[vertex] ?? 0;
    if (before === left[vertex]) return;
    let kept = 0;
    for (let i = 0; i < before; i += 1) {
      const entry = at[first + i] ?? 0;
      if (closed[pairs[entry] ?? 0] === 1) continue;
      at[first + kept] = entry;
      kept += 1;
    }
    count[vertex] = kept;
  }

  return {
    count,
    left,
    at,
    closed,
    compact,
    tidy(vertex) {
      const before = count[vertex] ?? 0;
      if (before <= 2 * (left[vertex] ?? 0)) return 1;
      compact(vertex);
      return 1 + before;
    },
  };
}

function* degreesOf({ starts, pairs, weights }: CandidateGraph): Generator<void, Float64Array> {
  const degrees = new Float64Array(starts.length - 1);
  let steps = 0;
  for (let vertex = 0; vertex < degrees.length; vertex += 1) {
    let degree = 0;
    const end = starts[vertex + 1] ?? 0;
    for (let entry = starts[vertex] ?? 0; entry < end; entry += 1)
      degree += weights[pairs[entry] ?? 0] ?? 0;
    degrees[vertex] = degree;
    steps += 1 + end - (starts[vertex] ?? 0);
    if (steps <= STEP_ENTRIES) continue;
    steps = 0;
    yield;
  }
  return degrees;
}

/**
 * Vertices by degree, then by number. Degrees only fall, so an entry that is out of date is put
 * back when it comes up.
 */
interface Heap {
  push(vertex: number): void;
  /** The vertex of the greatest degree, removed; nothing when all degrees are 0. */
  pop(): number | undefined;
}

function createHeap(degrees: Float64Array): Heap {
  const items: number[] = [];
  const queued = new Float64Array(degrees.length);
  const before = (a: number, b: number): boolean => {
    const byDegree = (queued[a] ?? 0) - (queued[b] ?? 0);
    return byDegree > 0 || (byDegree === 0 && a < b);
  };
  const push = (vertex: number): void => {
    queued[vertex] = degrees[vertex] ?? 0;
    let at = items.push(vertex) - 1;
    for (let parent = (at - 1) >> 1; at > 0; parent = (at - 1) >> 1) {
      const above = items[parent] ?? 0;
      if (!before(vertex, above)) break;
      items[at] = above;
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
      const right = items[child + 1];
      if (right !== undefined && before(right, items[child] ?? 0)) child += 1;
      const lower = items[child] ?? 0;
      if (!before(lower, last)) break;
      items[at] = lower;
      at = child;
    }
    items[at] = last;
    return top;
  };
  return {
    push,
    pop() {
      for (let vertex = take(); vertex !== undefined; vertex = take()) {
        if (queued[vertex] === degrees[vertex]) {
          if ((degrees[vertex] ?? 0) > 0) return vertex;
        } else if ((degrees[vertex] ?? 0) > 0) push(vertex);
      }
      return undefined;
    },
  };
}
