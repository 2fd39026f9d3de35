import {
  array,
  assert,
  infiniteStream,
  integer,
  nat,
  property,
  record,
  tuple,
  uniqueArray,
} from "fast-check";
import { describe, expect, it } from "vitest";
import type { FoundGroup } from "../../../src/dedup/groups/graph.ts";
import { groupSteps, PAIR_LIMIT } from "../../../src/dedup/groups/graph.ts";
import { runAtOnce } from "./run-at-once.ts";
import type { GraphInput, TextEdge } from "../../../src/dedup/groups/vertices.ts";

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

/** Texts named by letters; text i holds the documents given. */
function input(
  documents: readonly (readonly number[])[],
  edges: readonly TextEdge[],
  rejections: readonly (readonly number[])[] = [],
): GraphInput {
  return {
    classes: documents.map((own, index) => ({
      hash: String.fromCodePoint(97 + index),
      documents: own,
    })),
    edges,
    rejections,
  };
}

function find(given: GraphInput): FoundGroup[] {
  return runAtOnce(groupSteps(given));
}

function membersOf(given: GraphInput): string[] {
  return find(given)
    .map((group) => group.members.join())
    .sort();
}

const singles = (count: number): number[][] => Array.from({ length: count }, (_, index) => [index]);

describe("groups from verified pairs", () => {
  it("are none where there is no pair", () => {
    expect(find(input(singles(3), []))).toEqual([]);
  });

  it("keep a clique as one group with all its pairs", () => {
    const edges = [0, 1, 2, 3].flatMap((low) =>
      [0, 1, 2, 3].filter((high) => high > low).map((high) => edge(low, high)),
    );
    const groups = find(input(singles(4), edges));
    expect(groups).toHaveLength(1);
    expect(groups[0]).toMatchObject({ members: [0, 1, 2, 3], texts: [0, 1, 2, 3], verified: 6 });
    expect(groups[0]?.pairs).toHaveLength(6);
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

  it("prefer the centre with the higher sum of scores, then the lower hash", () => {
    expect(
      membersOf(input(singles(4), [edge(0, 1, 0.8), edge(1, 2, 0.9), edge(2, 3, 0.9)])),
    ).toEqual(["0,1,2", "1,2,3"]);
    expect(membersOf(input(singles(4), [edge(0, 1), edge(1, 2), edge(2, 3)]))).toEqual([
      "0,1,2",
      "1,2,3",
    ]);
    expect(find(input(singles(4), [edge(0, 1), edge(1, 2), edge(2, 3, 0.9)]))[0]?.members).toEqual([
      1, 2, 3,
    ]);
    expect(find(input(singles(4), [edge(0, 1), edge(1, 2), edge(2, 3)]))[0]?.members).toEqual([
      0, 1, 2,
    ]);
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
        pairs: [],
        scores: { confidence: 1, jaccard: 1, fuzzy: 1, discriminative: 1 },
        verified: 3,
      },
    ]);
  });

  it("keep the pairs of the centre, then the most confident ones, and take the mean over all", () => {
    const size = 120;
    const edges: TextEdge[] = [];
    for (let low = 0; low < size; low++)
      for (let high = low + 1; high < size; high++)
        edges.push(edge(low, high, low === 0 ? 0.76 : 0.8 + ((low * size + high) % 100) / 1000));
    const extra = edge(0, size, 0.76);
    const given = input([...singles(size), [size]], [...edges, extra]);
    const [group] = find(given);
    expect(group?.pairs).toHaveLength(PAIR_LIMIT);
    expect(group?.pairs.slice(0, size).every((pair) => pair.a === 0)).toBe(true);
    const others = group?.pairs.slice(size).map((pair) => pair.confidence) ?? [];
    expect(others).toEqual(
      edges
        .filter(({ low }) => low > 0)
        .map(({ confidence }) => confidence)
        .sort((a, b) => b - a)
        .slice(0, others.length),
    );
    expect(group?.scores.confidence).toBeCloseTo(
      [...edges, extra].reduce((sum, { confidence }) => sum + confidence, 0) / (edges.length + 1),
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

/** A random graph: texts with one to three documents, edges, rejections. */
const graphs = record({
  sizes: array(integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 14 }),
  ends: uniqueArray(tuple(nat(13), nat(13)), {
    maxLength: 30,
    selector: ([a, b]) => `${Math.min(a, b)},${Math.max(a, b)}`,
  }),
  rejections: array(array(nat(30), { minLength: 2, maxLength: 4 }), { maxLength: 3 }),
  seed: infiniteStream(nat(1_000)),
});

describe("any graph", () => {
  it("gives the same groups whatever the order of texts, documents and edges", () => {
    assert(
      property(graphs, ({ sizes, ends, rejections, seed }) => {
        const given = build(sizes, ends, rejections);
        const places = sizes
          .map((_, index) => ({ index, key: seed.next().value as number }))
          .sort((a, b) => a.key - b.key)
          .map(({ index }) => index);
        const edges = Array.from(given.edges, (one) => ({
          one,
          key: seed.next().value as number,
        })).sort((a, b) => a.key - b.key);
        const shuffled: GraphInput = {
          classes: places.map((index) => ({
            hash: given.classes[index]?.hash ?? "",
            documents: given.classes[index]?.documents.toReversed() ?? [],
          })),
          edges: edges.map(({ one }) => ({
            ...one,
            low: places.indexOf(one.high),
            high: places.indexOf(one.low),
          })),
          rejections,
        };
        expect(find(shuffled)).toEqual(find(given));
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
): GraphInput {
  let next = 0;
  const documents = sizes.map((size) => Array.from({ length: size }, () => next++));
  const edges = ends
    .filter(([a, b]) => a !== b && a < sizes.length && b < sizes.length)
    .map(([a, b]) => edge(Math.min(a, b), Math.max(a, b), 0.75 + ((a * 7 + b * 7) % 20) / 100));
  return input(documents, edges, rejections);
}

/** The pairs of documents that hold, found the plain way. */
function linkedDocuments({ classes, edges, rejections }: GraphInput): Map<number, Set<number>> {
  const linked = new Map<number, Set<number>>();
  const link = (a: number, b: number): void => {
    if (a === b || rejections.some((rejection) => rejection.includes(a) && rejection.includes(b)))
      return;
    linked.set(a, (linked.get(a) ?? new Set()).add(b));
    linked.set(b, (linked.get(b) ?? new Set()).add(a));
  };
  for (const { documents } of classes)
    for (const a of documents) for (const b of documents) link(a, b);
  for (const { low, high } of edges)
    for (const a of classes[low]?.documents ?? [])
      for (const b of classes[high]?.documents ?? []) link(a, b);
  return linked;
}

describe("large inputs", () => {
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

function large(count: number, edges: readonly TextEdge[]): GraphInput {
  return {
    classes: Array.from({ length: count }, (_, index) => ({
      hash: `${(index * 2_654_435_761) % 4_294_967_296}`,
      documents: [index],
    })),
    edges,
    rejections: [],
  };
}

function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
