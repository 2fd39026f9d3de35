import { array, assert, integer, nat, property, record, tuple, uniqueArray } from "fast-check";
import { describe, expect, it } from "vitest";
import { createCover } from "../../../workers/cover/cover.ts";
import type { PairScores } from "../../../workers/verify/pair-verifier.ts";
import { SAME_TEXT } from "../../../workers/verify/pair-verifier.ts";
import type { Star } from "../../../src/dedup/analysis/star.ts";
import type { FoundGroup } from "../../../src/dedup/groups/graph.ts";
import { groupSteps, PAIR_LIMIT } from "../../../src/dedup/groups/graph.ts";
import { vertexSteps } from "../../../src/dedup/groups/vertices.ts";
import { runAtOnce } from "./run-at-once.ts";

/** A pair of texts that passes, or fails when its confidence is NaN. */
interface TextEdge extends PairScores {
  readonly low: number;
  readonly high: number;
}

/** An edge whose scores all follow from one number. */
function edge(low: number, high: number, confidence = 0.8): TextEdge {
  return {
    low,
    high,
    confidence,
    jaccard: confidence - 0.1,
    fuzzy: confidence + 0.1,
    discriminative: 1,
  };
}

/** Texts in the order of their hashes, their documents, pairs and rejections. */
interface Given {
  readonly documents: readonly (readonly number[])[];
  readonly edges: readonly TextEdge[];
  readonly rejections: readonly (readonly number[])[];
}

function input(
  documents: readonly (readonly number[])[],
  edges: readonly TextEdge[],
  rejections: readonly (readonly number[])[] = [],
): Given {
  return { documents, edges, rejections };
}

function find({ documents, edges, rejections }: Given): FoundGroup[] {
  const sorted = edges.toSorted((a, b) => a.low - b.low || a.high - b.high);
  const starts = new Uint32Array(documents.length + 1);
  for (const { low } of sorted) starts[low + 1] = (starts[low + 1] ?? 0) + 1;
  for (const text of documents.keys())
    starts[text + 1] = (starts[text + 1] ?? 0) + (starts[text] ?? 0);
  const vertices = runAtOnce(
    vertexSteps({
      documents,
      pairs: {
        starts,
        highs: Uint32Array.from(sorted, ({ high }) => high),
        equal: Uint16Array.from(sorted, () => 200),
      },
      rejections,
      strongFrom: 100,
    }),
  );
  const scoresOf = new Map(edges.map((one) => [`${one.low} ${one.high}`, one]));
  const cover = createCover(vertices.graph);
  const stars: Star[] = [];
  const textOf = (vertex: number): number => vertices.textOf[vertex] ?? 0;
  while (cover.open > 0)
    for (const star of cover.select(1)) {
      const members = [...star.neighbours].flatMap((vertex) => {
        const [low = 0, high = 0] = [textOf(star.centre), textOf(vertex)].sort((a, b) => a - b);
        const found = low === high ? SAME_TEXT : scoresOf.get(`${low} ${high}`);
        if (!found || Number.isNaN(found.confidence)) return [];
        const { confidence, jaccard, fuzzy, discriminative } = found;
        return [{ vertex, scores: { confidence, jaccard, fuzzy, discriminative } }];
      });
      const passing = new Set(members.map(({ vertex }) => vertex));
      cover.apply(
        star,
        Uint8Array.from(star.neighbours, (vertex) => Number(passing.has(vertex))),
      );
      if (members.length > 0) stars.push({ centre: star.centre, members });
    }
  return runAtOnce(groupSteps({ documents, vertices, stars }));
}

function membersOf(given: Given): string[] {
  return find(given)
    .map((group) => group.members.join())
    .sort();
}

const singles = (count: number): number[][] => Array.from({ length: count }, (_, index) => [index]);

describe("groups from verified pairs", () => {
  it("are none where there is no pair", () => {
    expect(find(input(singles(3), []))).toEqual([]);
  });

  it("keep a clique as one group with the pairs of its centre", () => {
    const edges = [0, 1, 2, 3].flatMap((low) =>
      [0, 1, 2, 3].filter((high) => high > low).map((high) => edge(low, high)),
    );
    const groups = find(input(singles(4), edges));
    expect(groups).toHaveLength(1);
    expect(groups[0]).toMatchObject({ members: [0, 1, 2, 3], texts: [0, 1, 2, 3], verified: 3 });
    expect(groups[0]?.pairs).toHaveLength(3);
  });

  it("make a hub and its leaves one group, with the pairs of the hub only", () => {
    const groups = find(
      input(
        singles(5),
        [1, 2, 3, 4].map((leaf) => edge(0, leaf)),
      ),
    );
    expect(groups.map((group) => group.members)).toEqual([[0, 1, 2, 3, 4]]);
    expect(groups[0]?.verified).toBe(4);
  });

  it("break a chain of near-misses into stars that share a document, never one giant", () => {
    const chain = Array.from({ length: 6 }, (_, index) => edge(index, index + 1));
    const groups = find(input(singles(7), chain));
    for (const group of groups) expect(group.members.length).toBeLessThanOrEqual(3);
    expect(new Set(groups.flatMap((group) => group.members)).size).toBe(7);
  });

  it("prefer the centre with most pairs, then the lower hash", () => {
    expect(membersOf(input(singles(5), [edge(0, 1), edge(1, 2), edge(2, 3), edge(2, 4)]))).toEqual([
      "0,1",
      "1,2,3,4",
    ]);
    expect(membersOf(input(singles(4), [edge(0, 1), edge(1, 2), edge(2, 3)]))).toEqual([
      "0,1,2",
      "2,3",
    ]);
  });

  it("leave out a neighbour whose pair fails, and cover it from elsewhere", () => {
    expect(
      membersOf(input(singles(4), [edge(0, 1), edge(0, 2), edge(0, 3, Number.NaN), edge(2, 3)])),
    ).toEqual(["0,1,2", "2,3"]);
  });

  it("count equal texts as certain pairs in the mean, once for every pair of documents", () => {
    const [group] = find(input([[5, 3], [9]], [edge(0, 1, 0.8)]));
    expect(group).toMatchObject({ members: [3, 5, 9], texts: [0, 0, 2], verified: 3 });
    expect(group?.scores.confidence).toBeCloseTo((1 + 0.8 + 0.8) / 3, 12);
    expect(group?.scores.jaccard).toBeCloseTo((1 + 0.7 + 0.7) / 3, 12);
    expect(group?.pairs).toEqual([
      { a: 0, b: 2, confidence: 0.8, jaccard: 0.8 - 0.1, fuzzy: 0.8 + 0.1, discriminative: 1 },
    ]);
  });

  it("make documents of one text a group of their own", () => {
    expect(find(input([[2, 1, 7]], []))).toEqual([
      {
        members: [1, 2, 7],
        texts: [0, 0, 0],
        ranks: [0, 0, 0],
        pairs: [],
        scores: { confidence: 1, jaccard: 1, fuzzy: 1, discriminative: 1 },
        verified: 3,
      },
    ]);
  });

  it("keep the most confident pairs of a large star, and take the mean over all", () => {
    const size = PAIR_LIMIT + 100;
    const edges = Array.from({ length: size }, (_, leaf) =>
      edge(0, leaf + 1, 0.75 + (leaf % 200) / 1_000),
    );
    const [group] = find(input(singles(size + 1), edges));
    expect(group?.pairs.map(({ confidence }) => confidence)).toEqual(
      edges
        .map(({ confidence }) => confidence)
        .sort((a, b) => b - a)
        .slice(0, PAIR_LIMIT),
    );
    expect(group?.scores.confidence).toBeCloseTo(
      edges.reduce((sum, { confidence }) => sum + confidence, 0) / size,
      9,
    );
  });
});

describe("pairs that a person rejected", () => {
  it("are no reason for a group any more, be the texts equal or alike", () => {
    expect(membersOf(input([[1, 2]], [], [[1, 2]]))).toEqual([]);
    expect(membersOf(input([[1], [2]], [edge(0, 1)], [[1, 2]]))).toEqual([]);
  });

  it("leave the other pairs of the same documents alone", () => {
    expect(find(input([[1, 2], [3]], [edge(0, 1)], [[1, 3]]))[0]).toMatchObject({
      members: [1, 2, 3],
      texts: [0, 1, 2],
      verified: 2,
    });
    expect(membersOf(input([[1, 2, 3]], [], [[1, 2]]))).toEqual(["1,2,3"]);
    expect(find(input([[1, 2, 3]], [], [[1, 2]]))[0]).toMatchObject({
      texts: [0, 1, 2],
      verified: 2,
    });
  });

  it("stay few in vertices when many documents of one text were rejected together", () => {
    const many = Array.from({ length: 20_000 }, (_, index) => index);
    expect(find(input([many, [99_999]], [edge(0, 1)], [many]))[0]).toMatchObject({
      verified: 20_000,
    });
  });
});

/** Texts with one to three documents, edges, rejections. */
const graphs = record({
  sizes: array(integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 14 }),
  ends: uniqueArray(tuple(nat(13), nat(13)), {
    maxLength: 30,
    selector: ([a, b]) => `${Math.min(a, b)},${Math.max(a, b)}`,
  }),
  rejections: array(array(nat(30), { minLength: 2, maxLength: 4 }), { maxLength: 3 }),
});

describe("any graph", () => {
  it("gives the same groups whatever the order of documents and rejections", () => {
    assert(
      property(graphs, ({ sizes, ends, rejections }) => {
        const given = build(sizes, ends, rejections);
        expect(
          find({
            documents: given.documents.map((own) => own.toReversed()),
            edges: given.edges,
            rejections: rejections.toReversed().map((one) => one.toReversed()),
          }),
        ).toEqual(find(given));
      }),
    );
  });

  it("puts every pair into a group and any two members at most two verified pairs apart", () => {
    assert(
      property(graphs, ({ sizes, ends, rejections }) => {
        const given = build(sizes, ends, rejections);
        const linked = linkedDocuments(given);
        const groups = find(given);
        for (const [a, others] of linked)
          for (const b of others)
            expect(groups.some(({ members }) => members.includes(a) && members.includes(b))).toBe(
              true,
            );
        for (const { members } of groups)
          for (const a of members)
            for (const b of members) {
              const near = linked.get(a) ?? new Set<number>();
              expect(
                a === b ||
                  near.has(b) ||
                  members.some((middle) => near.has(middle) && linked.get(middle)?.has(b)),
              ).toBe(true);
            }
      }),
    );
  });
});

function build(
  sizes: readonly number[],
  ends: readonly (readonly [number, number])[],
  rejections: readonly (readonly number[])[],
): Given {
  let next = 0;
  const documents = sizes.map((size) => Array.from({ length: size }, () => next++));
  const edges = ends
    .filter(([a, b]) => a !== b && a < sizes.length && b < sizes.length)
    .map(([a, b]) => edge(Math.min(a, b), Math.max(a, b), 0.75 + ((a * 7 + b * 7) % 20) / 100));
  return input(documents, edges, rejections);
}

/** The pairs of documents that hold, found the plain way. */
function linkedDocuments({ documents, edges, rejections }: Given): Map<number, Set<number>> {
  const linked = new Map<number, Set<number>>();
  const link = (a: number, b: number): void => {
    if (a === b || rejections.some((rejection) => rejection.includes(a) && rejection.includes(b)))
      return;
    linked.set(a, (linked.get(a) ?? new Set()).add(b));
    linked.set(b, (linked.get(b) ?? new Set()).add(a));
  };
  for (const own of documents) for (const a of own) for (const b of own) link(a, b);
  for (const { low, high } of edges)
    for (const a of documents[low] ?? []) for (const b of documents[high] ?? []) link(a, b);
  return linked;
}

describe("large inputs", () => {
  it("lists the documents of a centre as often, however many other texts are like it", () => {
    const listed = (others: number): number => {
      let count = 0;
      const copies = Array.from({ length: 10 }, (_, at) => at);
      const counted = Object.assign([...copies], {
        map<T>(of: (document: number) => T): T[] {
          count += 1;
          return copies.map(of);
        },
      });
      const documents = [counted, ...Array.from({ length: others }, (_, at) => [10 + at])];
      const scores = edge(0, 1);
      const [group] = runAtOnce(
        groupSteps({
          documents,
          vertices: {
            textOf: Uint32Array.from(documents.keys()),
            vertex: (text) => ({ text, documents: documents[text] ?? [], equal: true }),
          },
          stars: [
            {
              centre: 0,
              members: Array.from({ length: others }, (_, at) => ({ vertex: at + 1, scores })),
            },
          ],
        }),
      );
      expect(group?.pairs.length).toBe(others);
      return count;
    };
    expect(listed(100)).toBe(listed(2));
  });

  it("stay near-linear in what they hold: no pair is in two groups often, not even with 300,000 edges in one component", () => {
    const random = generator(5);
    const sparse = Array.from({ length: 100_000 }, () =>
      edge(random(80_000), random(80_000), 0.75 + random(25) / 100),
    ).filter(({ low, high }) => low < high);
    expect(members(find(large(80_000, sparse)))).toBeLessThan(3 * sparse.length);
    const dense = Array.from({ length: 300_000 }, () =>
      edge(random(5_000), random(5_000), 0.75 + random(25) / 100),
    ).filter(({ low, high }) => low < high);
    expect(members(find(large(5_000, dense)))).toBeLessThan(2 * dense.length);
  });
});

function members(groups: readonly { readonly members: readonly number[] }[]): number {
  return groups.reduce((sum, group) => sum + group.members.length, 0);
}

function large(count: number, edges: readonly TextEdge[]): Given {
  const known = new Map(edges.map((one) => [`${one.low} ${one.high}`, one]));
  return input(singles(count), [...known.values()]);
}

function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
