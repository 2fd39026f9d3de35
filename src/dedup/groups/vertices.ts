/**
 * The graph that groups are found in. A vertex is a set of documents with one text; an edge says
 * that two texts were verified as near-duplicates. Everything is put into an order of its own (by
 * text hash), so that the groups do not depend on the order of the input.
 *
 * "Not a duplicate" takes pairs of documents out. Such documents leave the vertex of their text:
 * documents of one text that stand in the same rejections become a vertex of their own, whose
 * documents are no pairs of one another (`equal` false), and two vertices that share a rejection
 * have no edge. All documents of a vertex therefore have the same neighbours, and there are at most
 * as many vertices as texts and distinct sets of rejections together.
 */
import type { Steps } from "./steps.ts";
import { sortSteps } from "./steps.ts";

/** The four figures of a verified pair, 0 to 1. */
export interface Scores {
  readonly confidence: number;
  readonly jaccard: number;
  readonly fuzzy: number;
  readonly discriminative: number;
}

/** A verified pair of distinct texts, by their index. */
export interface TextEdge extends Scores {
  readonly low: number;
  readonly high: number;
}

/** The documents that share a text. */
interface TextClass {
  /** Any text that is the same for equal and different for distinct contents; decides ties. */
  readonly hash: string;
  /** Distinct document numbers. */
  readonly documents: readonly number[];
}

/** What groups are made from. */
export interface GraphInput {
  readonly classes: readonly TextClass[];
  readonly edges: Iterable<TextEdge>;
  /** Sets of documents that a reviewer marked as no duplicates of each other. */
  readonly rejections: readonly (readonly number[])[];
}

/** A vertex: documents of one text with the same neighbours. */
interface Vertex {
  readonly hash: string;
  /** Ascending. */
  readonly documents: readonly number[];
  /** Whether the documents are pairs of one another. */
  readonly equal: boolean;
  /** Rejections the documents stand in, ascending. */
  readonly rejections: readonly number[];
}

/**
 * An undirected graph in canonical order: vertex i has the neighbours `to[start[i] … start[i +
 * 1])`, ascending.
 */
export interface Graph {
  readonly vertices: readonly Vertex[];
  readonly start: Uint32Array;
  readonly to: Uint32Array;
  /** For each entry of `to` the edge in `edges`. */
  readonly edge: Uint32Array;
  readonly edges: readonly Scores[];
}

const SAME: Scores = { confidence: 1, jaccard: 1, fuzzy: 1, discriminative: 1 };

/**
 * Builds the graph: near-linear in documents and edges. Texts that are in no edge and have one
 * document are left out.
 */
export function* graphSteps(input: GraphInput): Steps<Graph> {
  const parts = createParts(input);
  const ends: number[] = [];
  const edges: Scores[] = [];
  const connect = (a: number, b: number, scores: Scores): void => {
    if (parts.rejected(a, b)) return;
    ends.push(a, b);
    edges.push(scores);
  };
  for (const [index, { documents }] of input.classes.entries()) {
    if (documents.length > 1) connectAll(parts.of(index), connect);
    if (index % 1024 === 1023) yield;
  }
  let seen = 0;
  for (const { low, high, confidence, jaccard, fuzzy, discriminative } of input.edges) {
    const scores = { confidence, jaccard, fuzzy, discriminative };
    for (const a of parts.of(low)) for (const b of parts.of(high)) connect(a, b, scores);
    if (++seen % 1024 === 0) yield;
  }
  return yield* canonicalSteps(parts.vertices, ends, edges);
}

function connectAll(
  own: readonly number[],
  connect: (a: number, b: number, scores: Scores) => void,
): void {
  for (let a = 0; a < own.length; a++)
    for (let b = a + 1; b < own.length; b++) connect(own[a] as number, own[b] as number, SAME);
}

/** Puts the vertices in order of their hash and renames the ends of the edges accordingly. */
function* canonicalSteps(
  made: readonly Vertex[],
  ends: readonly number[],
  edges: readonly Scores[],
): Steps<Graph> {
  const numbers = yield* sortSteps([...made.keys()], (a, b) =>
    compareVertices(made[a] as Vertex, made[b] as Vertex),
  );
  const rank = new Uint32Array(made.length);
  for (const [index, number] of numbers.entries()) rank[number] = index;
  yield;
  const ranked = new Uint32Array(ends.length);
  for (let entry = 0; entry < ends.length; entry++) {
    ranked[entry] = rank[ends[entry] as number] as number;
    if (entry % 8192 === 8191) yield;
  }
  return yield* adjacencySteps(
    numbers.map((number) => made[number] as Vertex),
    ranked,
    edges,
  );
}

function compareVertices(a: Vertex, b: Vertex): number {
  return compareText(a.hash, b.hash) || (a.documents[0] ?? 0) - (b.documents[0] ?? 0);
}

/** The vertices of each text, created on first use. */
interface Parts {
  readonly vertices: readonly Vertex[];
  /** Numbers of the vertices of a text. */
  of(textClass: number): readonly number[];
  rejected(a: number, b: number): boolean;
}

function createParts(input: GraphInput): Parts {
  const rejectionsOf = new Map<number, number[]>();
  for (const [rejection, documents] of input.rejections.entries()) {
    for (const document of new Set(documents)) {
      const known = rejectionsOf.get(document);
      if (known) known.push(rejection);
      else rejectionsOf.set(document, [rejection]);
    }
  }
  const vertices: Vertex[] = [];
  const made = new Map<number, readonly number[]>();
  const of = (index: number): readonly number[] => {
    const known = made.get(index);
    if (known) return known;
    const { hash, documents } = input.classes[index] ?? { hash: "", documents: [] };
    const own = split(hash, documents, rejectionsOf).map((vertex) => vertices.push(vertex) - 1);
    made.set(index, own);
    return own;
  };
  const rejected = (a: number, b: number): boolean => {
    const theirs = vertices[b]?.rejections ?? [];
    return (
      theirs.length > 0 &&
      (vertices[a]?.rejections ?? []).some((rejection) => theirs.includes(rejection))
    );
  };
  return { vertices, of, rejected };
}

function split(
  hash: string,
  documents: readonly number[],
  rejectionsOf: ReadonlyMap<number, readonly number[]>,
): Vertex[] {
  const byRejections = new Map<string, { documents: number[]; rejections: readonly number[] }>();
  for (const document of documents) {
    const rejections = rejectionsOf.get(document) ?? [];
    const part = byRejections.get(rejections.join());
    if (part) part.documents.push(document);
    else byRejections.set(rejections.join(), { documents: [document], rejections });
  }
  return Array.from(byRejections.values(), (part) => ({
    hash,
    equal: part.rejections.length === 0,
    rejections: part.rejections,
    documents: part.documents.sort((a, b) => a - b),
  }));
}

/**
 * Two transpositions: the second one meets the vertices in order, so that every list comes out
 * ascending.
 */
function* adjacencySteps(
  vertices: readonly Vertex[],
  ends: Uint32Array,
  edges: readonly Scores[],
): Steps<Graph> {
  const start = new Uint32Array(vertices.length + 1);
  for (const end of ends) start[end + 1] = (start[end + 1] ?? 0) + 1;
  for (let vertex = 0; vertex < vertices.length; vertex++)
    start[vertex + 1] = (start[vertex + 1] ?? 0) + (start[vertex] ?? 0);
  yield;
  const unsorted = new Uint32Array(ends.length);
  let free = start.slice();
  for (let entry = 0; entry < ends.length; entry++) {
    const vertex = ends[entry] as number;
    unsorted[free[vertex] as number] = entry;
    free[vertex] = (free[vertex] as number) + 1;
    if (entry % 8192 === 8191) yield;
  }
  const to = new Uint32Array(ends.length);
  const edge = new Uint32Array(ends.length);
  free = start.slice();
  for (let vertex = 0; vertex < vertices.length; vertex++) {
    for (let at = start[vertex] as number; at < (start[vertex + 1] as number); at++) {
      const entry = unsorted[at] as number;
      const other = ends[entry ^ 1] as number;
      const slot = free[other] as number;
      to[slot] = vertex;
      edge[slot] = entry >> 1;
      free[other] = slot + 1;
    }
    if (vertex % 1024 === 1023) yield;
  }
  return { vertices, start, to, edge, edges };
}

/** Order by UTF-16 code units, the same everywhere. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
