/**
 * The graph that groups are found in. A vertex is a set of documents with one text; a pair says
 * that two texts may be near-duplicates. Vertices are in the order of their text's hash, so that
 * the groups do not depend on the order of the input.
 *
 * "Not a duplicate" takes pairs of documents out. Such documents leave the vertex of their text:
 * documents of one text that stand in the same rejections become a vertex of their own, whose
 * documents are no pairs of one another (`equal` false), and two vertices that share a rejection
 * are no pair. All documents of a vertex therefore have the same neighbours.
 */
import type { CandidateGraph } from "../../../workers/cover/cover.ts";
import type { Steps } from "./steps.ts";

/** Candidate pairs of texts, by their lower text. */
interface TextPairs {
  /** Where the pairs of a text begin; one entry more than there are texts. */
  readonly starts: Uint32Array;
  /** The higher texts, ascending in each row. */
  readonly highs: Uint32Array;
  /** Equal sketch values of each pair. */
  readonly equal: Uint16Array;
}

/** What the graph is made from. Texts are numbered in the order of their hashes. */
export interface VertexInput {
  /** Distinct document numbers of each text. */
  readonly documents: readonly (readonly number[])[];
  readonly pairs: TextPairs;
  /** Sets of documents that a reviewer marked as no duplicates of each other. */
  readonly rejections: readonly (readonly number[])[];
  /** Equal sketch values from which on a pair is a strong one. */
  readonly strongFrom: number;
}

/** Documents of one text with the same neighbours. */
export interface Vertex {
  readonly text: number;
  readonly documents: readonly number[];
  /** Whether the documents are pairs of one another. */
  readonly equal: boolean;
}

/** All vertices that are in a pair, or that a rejection has set apart. */
export interface VertexGraph {
  readonly graph: CandidateGraph;
  /** The text of each vertex. */
  readonly textOf: Uint32Array;
  vertex(number: number): Vertex;
}

/** A strong pair counts as many weak ones in the choice of a centre. */
const STRONG = 64;

interface Part {
  /** Ascending. */
  readonly documents: readonly number[];
  /** Rejections the documents stand in, ascending. */
  readonly rejections: readonly number[];
}

/** Builds the graph in time linear in texts and pairs. */
export function* vertexSteps(input: VertexInput): Steps<VertexGraph> {
  const { documents } = input;
  const parts = splitTexts(input);
  const first = yield* firstVertices(input, parts);
  const textOf = new Uint32Array(first[documents.length] ?? 0);
  for (let text = 0; text < documents.length; text += 1)
    textOf.fill(text, first[text], first[text + 1]);
  yield;
  const starts = new Uint32Array(textOf.length + 1);
  let pairs = 0;
  yield* eachPair(input, parts, first, (a, b) => {
    starts[a + 1] = (starts[a + 1] ?? 0) + 1;
    starts[b + 1] = (starts[b + 1] ?? 0) + 1;
    pairs += 1;
  });
  for (let vertex = 0; vertex < textOf.length; vertex += 1)
    starts[vertex + 1] = (starts[vertex + 1] ?? 0) + (starts[vertex] ?? 0);
  yield;
  const others = new Uint32Array(2 * pairs);
  const pairOf = new Uint32Array(2 * pairs);
  const weights = new Uint8Array(pairs);
  const next = starts.slice();
  const put = (a: number, b: number, pair: number): void => {
    const at = next[a] ?? 0;
    next[a] = at + 1;
    others[at] = b;
    pairOf[at] = pair;
  };
  let pair = 0;
  yield* eachPair(input, parts, first, (a, b, strong) => {
    put(a, b, pair);
    put(b, a, pair);
    weights[pair] = strong ? STRONG : 1;
    pair += 1;
  });
  return {
    graph: { starts, others, pairs: pairOf, weights },
    textOf,
    vertex(number) {
      const text = textOf[number] ?? 0;
      const part = parts.get(text)?.[number - (first[text] ?? 0)];
      return part
        ? { text, documents: part.documents, equal: part.rejections.length === 0 }
        : { text, documents: documents[text] ?? [], equal: true };
    },
  };
}

/** The parts of texts of which a document stands in a rejection. */
function splitTexts({ documents, rejections }: VertexInput): ReadonlyMap<number, readonly Part[]> {
  const parts = new Map<number, Part[]>();
  if (rejections.length === 0) return parts;
  const rejectionsOf = new Map<number, number[]>();
  for (const [rejection, rejected] of rejections.entries())
    for (const document of new Set(rejected)) {
      const known = rejectionsOf.get(document);
      if (known) known.push(rejection);
      else rejectionsOf.set(document, [rejection]);
    }
  for (const [text, own] of documents.entries())
    if (own.some((document) => rejectionsOf.has(document)))
      parts.set(text, splitText(own, rejectionsOf));
  return parts;
}

function splitText(
  documents: readonly number[],
  rejectionsOf: ReadonlyMap<number, readonly number[]>,
): Part[] {
  const byRejections = new Map<string, { documents: number[]; rejections: readonly number[] }>();
  for (const document of documents.toSorted((a, b) => a - b)) {
    const rejections = rejectionsOf.get(document) ?? [];
    const part = byRejections.get(rejections.join());
    if (part) part.documents.push(document);
    else byRejections.set(rejections.join(), { documents: [document], rejections });
  }
  // In the order of their first documents.
  return [...byRejections.values()];
}

/** The first vertex of each text; a text that is in no pair and not split has none. */
function* firstVertices(
  { documents, pairs }: VertexInput,
  parts: ReadonlyMap<number, readonly Part[]>,
): Steps<Uint32Array> {
  const first = new Uint32Array(documents.length + 1);
  for (let low = 0; low < documents.length; low += 1) {
    if (pairs.starts[low] !== pairs.starts[low + 1]) first[low + 1] = 1;
    if (low % 16_384 === 16_383) yield;
  }
  for (let at = 0; at < pairs.highs.length; at += 1) {
    first[(pairs.highs[at] ?? 0) + 1] = 1;
    if (at % 65_536 === 65_535) yield;
  }
  for (const [text, own] of parts) first[text + 1] = own.length;
  for (let text = 0; text < documents.length; text += 1)
    first[text + 1] = (first[text + 1] ?? 0) + (first[text] ?? 0);
  yield;
  return first;
}

/** Every pair of vertices that is not rejected, in an order that is the same each time. */
function* eachPair(
  { documents, pairs, strongFrom }: VertexInput,
  parts: ReadonlyMap<number, readonly Part[]>,
  first: Uint32Array,
  found: (a: number, b: number, strong: boolean) => void,
): Steps<void> {
  const rejected = (a: Part | undefined, b: Part | undefined): boolean =>
    a !== undefined &&
    b !== undefined &&
    a.rejections.some((rejection) => b.rejections.includes(rejection));
  let steps = 0;
  for (let low = 0; low < documents.length; low += 1) {
    const own = parts.get(low) ?? [undefined];
    const firstOwn = first[low] ?? 0;
    for (const [i, a] of own.entries())
      for (let j = i + 1; j < own.length; j += 1)
        if (!rejected(a, own[j])) found(firstOwn + i, firstOwn + j, true);
    for (let at = pairs.starts[low] ?? 0; at < (pairs.starts[low + 1] ?? 0); at += 1) {
      const high = pairs.highs[at] ?? 0;
      const strong = (pairs.equal[at] ?? 0) >= strongFrom;
      const firstOther = first[high] ?? 0;
      steps += 1;
      if (own[0] === undefined && !parts.has(high)) {
        found(firstOwn, firstOther, strong);
        continue;
      }
      const others = parts.get(high) ?? [undefined];
      for (const [i, a] of own.entries())
        for (const [j, b] of others.entries())
          if (!rejected(a, b)) found(firstOwn + i, firstOther + j, strong);
    }
    steps += 1;
    if (steps > 32_768) {
      steps = 0;
      yield;
    }
  }
}

/** Order by UTF-16 code units, the same everywhere. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
