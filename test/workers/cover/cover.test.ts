import { array, assert, boolean, integer, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import type { CandidateGraph, OpenStar } from "../../../workers/cover/cover.ts";
import { createCover } from "../../../workers/cover/cover.ts";

interface Pair {
  readonly a: number;
  readonly b: number;
  readonly weight: number;
  readonly passes: boolean;
}

const VERTICES = 14;

/** Distinct pairs of distinct vertices. */
function distinct(pairs: readonly Pair[]): Pair[] {
  const known = new Map<string, Pair>();
  for (const { a, b, weight, passes } of pairs)
    if (a !== b) known.set(`${Math.min(a, b)} ${Math.max(a, b)}`, { a, b, weight, passes });
  return [...known.values()];
}

function graphOf(pairs: readonly Pair[], vertices: number = VERTICES): CandidateGraph {
  const rows = Array.from({ length: vertices }, (): { other: number; pair: number }[] => []);
  for (const [pair, { a, b }] of pairs.entries()) {
    rows[a]?.push({ other: b, pair });
    rows[b]?.push({ other: a, pair });
  }
  for (const row of rows) row.sort((x, y) => x.other - y.other);
  const starts = [0];
  for (const row of rows) starts.push((starts.at(-1) ?? 0) + row.length);
  return {
    starts: Uint32Array.from(starts),
    others: Uint32Array.from(rows.flat(), ({ other }) => other),
    pairs: Uint32Array.from(rows.flat(), ({ pair }) => pair),
    weights: Uint8Array.from(pairs, ({ weight }) => weight),
  };
}

interface Group {
  readonly centre: number;
  readonly members: number[];
}

/** The rule as it is written: one centre after the other, over the whole graph each time. */
function plainCover(pairs: readonly Pair[]): { groups: Group[]; verified: number } {
  let open = [...pairs];
  const groups: Group[] = [];
  let verified = 0;
  while (open.length > 0) {
    const degrees = new Map<number, number>();
    for (const { a, b, weight } of open)
      for (const end of [a, b]) degrees.set(end, (degrees.get(end) ?? 0) + weight);
    const [centre = 0] = [...degrees.keys()].sort(
      (x, y) => (degrees.get(y) ?? 0) - (degrees.get(x) ?? 0) || x - y,
    );
    const own = open.filter(({ a, b }) => a === centre || b === centre);
    verified += own.length;
    const members = own
      .filter(({ passes }) => passes)
      .map(({ a, b }) => (a === centre ? b : a))
      .sort((x, y) => x - y);
    const inside = new Set([centre, ...members]);
    open = open.filter(
      ({ a, b }) => a !== centre && b !== centre && !(inside.has(a) && inside.has(b)),
    );
    if (members.length > 0) groups.push({ centre, members });
  }
  return { groups: groups.sort((x, y) => x.centre - y.centre), verified };
}

/** Runs a cover, several stars under way; `choose` says which of them comes back next. */
function runCover(
  pairs: readonly Pair[],
  choose: (underWay: number) => number,
): { groups: Group[]; verified: number } {
  const cover = createCover(graphOf(pairs));
  const underWay: OpenStar[] = [];
  const groups: Group[] = [];
  let verified = 0;
  for (;;) {
    underWay.push(...cover.select(2));
    const [star] = underWay.splice(choose(underWay.length), 1);
    if (!star) break;
    verified += star.pairs.length;
    const passed = Uint8Array.from(star.pairs, (pair) => Number(pairs[pair]?.passes));
    const members = [...star.neighbours].filter((_, i) => passed[i] === 1);
    if (members.length > 0) groups.push({ centre: star.centre, members });
    cover.apply(star, passed);
  }
  expect(cover.open).toBe(0);
  return { groups: groups.sort((x, y) => x.centre - y.centre), verified };
}

const vertex = integer({ min: 0, max: VERTICES - 1 });
const somePairs = array(
  record({
    a: vertex,
    b: vertex,
    weight: integer({ min: 1, max: 2 }).map((kind) => (kind === 1 ? 1 : 64)),
    passes: boolean(),
  }),
  { maxLength: 60 },
).map(distinct);

describe("the cover of a candidate graph", () => {
  it("takes the centre of the greatest degree, strong pairs counting for more, then the lowest", () => {
    const passes = true;
    expect(
      runCover(
        [
          { a: 0, b: 1, weight: 1, passes },
          { a: 0, b: 2, weight: 1, passes },
          { a: 3, b: 4, weight: 64, passes },
          { a: 4, b: 2, weight: 1, passes },
        ],
        () => 0,
      ).groups,
    ).toEqual([
      { centre: 0, members: [1, 2] },
      { centre: 4, members: [2, 3] },
    ]);
  });

  it("verifies a centre against its neighbours only: a clique of n costs n - 1 pairs", () => {
    const pairs: Pair[] = [];
    for (let a = 0; a < VERTICES; a += 1)
      for (let b = a + 1; b < VERTICES; b += 1) pairs.push({ a, b, weight: 64, passes: true });
    expect(runCover(pairs, () => 0)).toEqual({
      groups: [{ centre: 0, members: Array.from({ length: VERTICES - 1 }, (_, i) => i + 1) }],
      verified: VERTICES - 1,
    });
  });

  it("is that of taking centres one by one, whatever is verified at a time and comes back first", () => {
    assert(
      property(
        somePairs,
        array(integer({ min: 0, max: 5 }), { minLength: 1, maxLength: 40 }),
        (pairs, choices) => {
          let turn = 0;
          const found = runCover(
            pairs,
            (underWay) => (choices[(turn += 1) % choices.length] ?? 0) % Math.max(1, underWay),
          );
          expect(found).toEqual(plainCover(pairs));
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it("is the same when stars are applied in steps, with others between them", () => {
    // Large enough for several steps: two cliques with a path between them.
    const pairs: Pair[] = [];
    const SIZE = 300;
    for (let a = 0; a < SIZE; a += 1)
      for (let b = a + 1; b < SIZE; b += 1) {
        pairs.push({ a, b, weight: 1, passes: true });
        pairs.push({ a: SIZE + a, b: SIZE + b, weight: 1, passes: b - a < 3 });
      }
    const path = [0, 2 * SIZE, 2 * SIZE + 1, 2 * SIZE + 2, SIZE];
    for (const [i, b] of path.slice(1).entries())
      pairs.push({ a: path[i] ?? 0, b, weight: 1, passes: true });
    const graph = graphOf(pairs, 2 * SIZE + 3);
    const cover = createCover(graph);
    const groups: Group[] = [];
    const steps: Generator<void, void>[] = [];
    let underWay = 0;
    while (cover.open > 0 || steps.length > 0) {
      for (const star of cover.select(1)) {
        const passed = Uint8Array.from(star.pairs, (pair) => Number(pairs[pair]?.passes));
        const members = [...star.neighbours].filter((_, i) => passed[i] === 1);
        if (members.length > 0) groups.push({ centre: star.centre, members });
        steps.push(cover.applySteps(star, passed));
      }
      const first = steps.shift();
      if (first && !first.next().done) steps.push(first);
      underWay = Math.max(underWay, steps.length);
    }
    const oneByOne: Group[] = [];
    const plain = createCover(graph);
    while (plain.open > 0) {
      const [star] = plain.select(1);
      if (!star) break;
      const passed = Uint8Array.from(star.pairs, (pair) => Number(pairs[pair]?.passes));
      const members = [...star.neighbours].filter((_, i) => passed[i] === 1);
      if (members.length > 0) oneByOne.push({ centre: star.centre, members });
      plain.apply(star, passed);
    }
    const byCentre = (x: Group, y: Group): number => x.centre - y.centre;
    expect(groups.sort(byCentre)).toEqual(oneByOne.sort(byCentre));
    expect(underWay).toBeGreaterThan(1);
  });

  it("takes time linear in the pairs when none passes", () => {
    // In time cubic in the vertices this would take minutes.
    const size = 3_000;
    const pairOf = (a: number, b: number): number => {
      const [low, high] = a < b ? [a, b] : [b, a];
      return low * size - (low * (low + 1)) / 2 + high - low - 1;
    };
    const entries = size * (size - 1);
    const others = new Uint32Array(entries);
    const pairs = new Uint32Array(entries);
    for (let a = 0, at = 0; a < size; a += 1)
      for (let b = 0; b < size; b += 1) {
        if (a === b) continue;
        others[at] = b;
        pairs[at] = pairOf(a, b);
        at += 1;
      }
    const starts = Uint32Array.from({ length: size + 1 }, (_, vertex) => vertex * (size - 1));
    const weights = new Uint8Array(entries / 2).fill(1);
    const cover = createCover({ starts, others, pairs, weights });
    let verified = 0;
    while (cover.open > 0)
      for (const star of cover.select(1)) {
        verified += star.pairs.length;
        cover.apply(star, new Uint8Array(star.pairs.length));
      }
    expect(verified).toBe(entries / 2);
  });

  it("leaves no passing pair that shares no group, and no member further than its centre", () => {
    assert(
      property(somePairs, (pairs) => {
        const { groups } = runCover(pairs, () => 0);
        const sets = groups.map(({ centre, members }) => new Set([centre, ...members]));
        for (const { a, b, passes } of pairs)
          if (passes) expect(sets.some((set) => set.has(a) && set.has(b))).toBe(true);
        for (const { centre, members } of groups)
          for (const member of members)
            expect(
              pairs.some(
                ({ a, b, passes }) =>
                  passes &&
                  Math.min(a, b) === Math.min(centre, member) &&
                  Math.max(a, b) === Math.max(centre, member),
              ),
            ).toBe(true);
      }),
    );
  });
});
