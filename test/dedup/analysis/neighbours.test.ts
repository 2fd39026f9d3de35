import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBreath } from "../../../src/dedup/analysis/breath.ts";
import { createNeighbours } from "../../../src/dedup/analysis/neighbours.ts";

type Pair = readonly [low: number, high: number, rank: number];

const CLASSES = 14;
const signal = new AbortController().signal;

async function kept(
  pairs: readonly Pair[],
  limit: number,
  maxKept: number = Number.POSITIVE_INFINITY,
): Promise<{ rows: string[]; limited: number }> {
  const neighbours = createNeighbours(CLASSES, { limit, maxKept });
  const breath = createBreath(signal);
  const leastRanks = new Uint16Array(neighbours.leastRanks);
  for (const [low, high, rank] of pairs) {
    if (rank < (leastRanks[low] ?? 0) && rank < (leastRanks[high] ?? 0)) neighbours.skip(1);
    else neighbours.add(low, high, rank);
    await neighbours.shrink(breath);
  }
  expect(neighbours.added).toBe(pairs.length);
  const { starts, highs, equal } = await neighbours.candidates(breath);
  const rows: string[] = [];
  for (let low = 0; low < CLASSES; low += 1)
    for (let at = starts[low] ?? 0; at < (starts[low + 1] ?? 0); at += 1)
      rows.push(`${low} ${highs[at]} ${equal[at]}`);
  return { rows, limited: neighbours.limited };
}

/** The definition, word for word. */
function expected(pairs: readonly Pair[], limit: number): { rows: string[]; limited: number } {
  const best = Array.from({ length: CLASSES }, (_, one) => {
    const mine = pairs
      .filter(([low, high]) => low === one || high === one)
      .map(([low, high, rank]) => ({ other: low === one ? high : low, rank }));
    return mine.sort((a, b) => b.rank - a.rank || a.other - b.other);
  });
  const keeps = (one: number, other: number): boolean =>
    best[one]?.slice(0, limit).some((kept) => kept.other === other) ?? false;
  const rows = pairs
    .filter(([low, high]) => keeps(low, high) || keeps(high, low))
    .map(([low, high, rank]) => [low, high, rank] as const);
  return {
    rows: rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((row) => row.join(" ")),
    limited: best.filter((list) => list.length > limit).length,
  };
}

const pairs: fc.Arbitrary<Pair[]> = fc
  .uniqueArray(fc.tuple(fc.nat(CLASSES - 2), fc.nat(CLASSES - 2), fc.nat(4)), {
    selector: ([a, b]) => `${a} ${b}`,
    maxLength: 120,
  })
  .map((all) =>
    all
      .map(([a, b, rank]): Pair => [Math.min(a, b + 1), Math.max(a, b + 1), rank])
      .filter(
        ([low, high], i, list) =>
          low < high && list.findIndex((pair) => pair[0] === low && pair[1] === high) === i,
      ),
  );

describe("the neighbours of a class", () => {
  it("are its best by rank, then hash; a pair goes on if either end keeps it", async () => {
    await fc.assert(
      fc.asyncProperty(pairs, fc.integer({ min: 1, max: 6 }), async (all, limit) => {
        expect(await kept(all, limit)).toEqual(expected(all, limit));
      }),
      { numRuns: 300 },
    );
  });

  it("are fewer of each class when those of all together would be too many", async () => {
    await fc.assert(
      fc.asyncProperty(pairs, fc.integer({ min: 1, max: 60 }), async (all, maxKept) => {
        const degrees = Array.from(
          { length: CLASSES },
          (_, one) => all.filter(([low, high]) => low === one || high === one).length,
        );
        const total = (limit: number): number =>
          degrees.reduce((sum, degree) => sum + Math.min(degree, limit), 0);
        const limit = [8, 4, 2, 1].find((one) => one === 1 || total(one) <= maxKept) ?? 1;
        expect(await kept(all, 8, maxKept)).toEqual(expected(all, limit));
      }),
      { numRuns: 300 },
    );
  });

  it("do not depend on the order in which pairs come", async () => {
    await fc.assert(
      fc.asyncProperty(
        pairs.chain((all) =>
          fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
        ),
        async ([all, shuffled]) => {
          expect(await kept(shuffled, 2)).toEqual(await kept(all, 2));
          expect(await kept(shuffled, 8, 30)).toEqual(await kept(all, 8, 30));
        },
      ),
    );
  });

  it("give way to other work on long walks and stop when the caller leaves", async () => {
    const neighbours = createNeighbours(400);
    for (let low = 0; low < 400; low += 1)
      for (let high = low + 1; high < 400; high += 1) neighbours.add(low, high, 1);
    expect(neighbours.added).toBe(79_800);
    const stop = new AbortController();
    const walk = neighbours.candidates(createBreath(stop.signal));
    stop.abort(new Error("enough"));
    await expect(walk).rejects.toThrow("enough");
  });
});
