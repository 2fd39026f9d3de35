/**
 * From the stars of a cover to groups of documents, and texts that several documents share and that
 * are like no other. The scores of a group are the mean over its verified pairs of *documents*: the
 * pair of a centre with a member counts once for each pair of documents it stands for, a pair of
 * equal texts counts as 1/1/1/1.
 */
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import { SAME_TEXT } from "../../../workers/verify/pair-verifier.ts";
import type { Star, StarPair } from "../analysis/star.ts";
import { createMeanScores } from "./mean-scores.ts";
import type { Steps } from "./steps.ts";
import type { Vertex } from "./vertices.ts";

/** The most pairs a group keeps. */
export const PAIR_LIMIT = 4_096;

/** A verified pair of members that have different texts, by their index in `members`. */
export interface FoundPair extends PairScores {
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
  /** For each member the rank of its text among all: what decides between equals. */
  readonly ranks: readonly number[];
  /**
   * The centre with each other text, at most PAIR_LIMIT: by confidence, then by the rank of the
   * text.
   */
  readonly pairs: readonly FoundPair[];
  /** Means over all verified pairs of documents; NaN for a score that was not computed. */
  readonly scores: PairScores;
  /** Verified pairs of documents, not limited. */
  readonly verified: number;
}

/** What a group is described by. */
export type Findings = Omit<FoundGroup, "verified">;

/** What groups are made from: an analysis' outcome. */
export interface GraphInput {
  /** The documents of each text, by its rank. */
  readonly documents: readonly (readonly number[])[];
  readonly vertices: { readonly textOf: Uint32Array; vertex(number: number): Vertex };
  readonly stars: readonly Star[];
}

/** All groups, in an order that depends on their texts alone. */
export function* groupSteps({ documents, vertices, stars }: GraphInput): Steps<FoundGroup[]> {
  const groups: FoundGroup[] = [];
  const inStar = new Uint8Array(vertices.textOf.length);
  const first = firstVertices(vertices.textOf, documents.length);
  for (const { centre, members } of stars) {
    inStar[centre] = 1;
    for (const { vertex } of members) inStar[vertex] = 1;
    groups.push(describe(vertices.vertex(centre), members, vertices));
    if (groups.length % 64 === 0 || members.length > 64) yield;
  }
  for (const [text, own] of documents.entries()) {
    if (own.length > 1)
      for (const vertex of verticesOf(text, first, vertices, own))
        if (vertex.documents.length > 1 && vertex.equal && !inStar[vertex.number])
          groups.push(describe(vertex, [], vertices));
    if (text % 4_096 === 4_095) yield;
  }
  return groups;
}

/** The first vertex of each text; the one after the last at the end. */
function firstVertices(textOf: Uint32Array, texts: number): Uint32Array {
  const first = new Uint32Array(texts + 1);
  for (const text of textOf) first[text + 1] = (first[text + 1] ?? 0) + 1;
  for (let text = 0; text < texts; text += 1)
    first[text + 1] = (first[text + 1] ?? 0) + (first[text] ?? 0);
  return first;
}

/** The vertices of a text; one that is in no pair has none, and stands for itself. */
function verticesOf(
  text: number,
  first: Uint32Array,
  vertices: GraphInput["vertices"],
  documents: readonly number[],
): (Vertex & { readonly number: number })[] {
  const from = first[text] ?? 0;
  const count = (first[text + 1] ?? 0) - from;
  if (count === 0) return [{ text, documents, equal: true, number: -1 }];
  return Array.from({ length: count }, (_, i) => ({
    ...vertices.vertex(from + i),
    number: from + i,
  }));
}

/** A document on its way into a group. */
interface Member {
  readonly document: number;
  readonly rank: number;
  /** The document that represents its text. */
  readonly representative: number;
}

function describe(
  centre: Vertex,
  pairs: readonly StarPair[],
  vertices: GraphInput["vertices"],
): FoundGroup {
  const others = pairs.map(({ vertex: number, scores }) => ({
    ...vertices.vertex(number),
    scores,
  }));
  const members = [centre, ...others].flatMap(membersOf).sort((a, b) => a.document - b.document);
  const indexOf = new Map(members.map(({ document }, index) => [document, index]));
  const mean = createMeanScores();
  for (const { documents, equal } of [centre, ...others])
    if (equal) mean.add(SAME_TEXT, (documents.length * (documents.length - 1)) / 2);
  for (const { documents, scores } of others)
    mean.add(scores, documents.length * centre.documents.length);
  const best = others.toSorted(
    (a, b) => b.scores.confidence - a.scores.confidence || a.text - b.text,
  );
  return {
    members: members.map(({ document }) => document),
    texts: members.map(({ representative }) => indexOf.get(representative) ?? 0),
    ranks: members.map(({ rank }) => rank),
    pairs: textPairs(centre, best, indexOf).take(PAIR_LIMIT).toArray(),
    scores: mean.scores(),
    verified: mean.count(),
  };
}

function membersOf({ documents, equal, text }: Vertex): Member[] {
  const first = documents.reduce((least, document) => Math.min(least, document), Infinity);
  return documents.map((document) => ({
    document,
    rank: text,
    representative: equal ? first : document,
  }));
}

/** For each other vertex one pair for each two representatives. */
function* textPairs(
  centre: Vertex,
  others: readonly (Vertex & { readonly scores: PairScores })[],
  indexOf: ReadonlyMap<number, number>,
): Generator<FoundPair> {
  const representatives = (vertex: Vertex): number[] => [
    ...new Set(membersOf(vertex).map(({ representative }) => indexOf.get(representative) ?? 0)),
  ];
  const ofCentre = representatives(centre);
  for (const other of others) {
    const ofOther = representatives(other);
    for (const a of ofCentre)
      for (const b of ofOther) yield { ...other.scores, a: Math.min(a, b), b: Math.max(a, b) };
  }
}
