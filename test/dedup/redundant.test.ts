import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findRedundant } from "../../src/dedup/redundant.ts";
import type { DocumentPair, GroupToReduce } from "../../src/dedup/redundant.ts";

const SCORES = { jaccard: 1, fuzzy: 1, discriminative: 1, confidence: 0.9 };

/** A group around a centre; `texts` names equal texts by the same letter. */
function group(
  members: readonly number[],
  { centre, primary, texts }: { centre: number; primary: number; texts?: string },
): GroupToReduce {
  const letters = texts ?? members.map((_, at) => String.fromCharCode(97 + at)).join("");
  const representative = Array.from(letters, (letter) => letters.indexOf(letter));
  const middle = representative[members.indexOf(centre)] ?? 0;
  const pairs = [...new Set(representative)]
    .filter((text) => text !== middle)
    .map((text) => ({ ...SCORES, a: Math.min(text, middle), b: Math.max(text, middle) }));
  return {
    primary,
    found: {
      members,
      texts: representative,
      ranks: representative,
      pairs,
      scores: SCORES,
      verified: pairs.length,
    },
  };
}

async function redundant(
  groups: readonly GroupToReduce[],
  { similar = [], truncated = [] }: { similar?: string[]; truncated?: number[] } = {},
): Promise<number[]> {
  const found = await findRedundant({
    groups,
    isTruncated: (document) => truncated.includes(document),
    verify: (pairs) =>
      Promise.resolve(
        pairs.map(([a, b]) => similar.includes(`${Math.min(a, b)}-${Math.max(a, b)}`)),
      ),
  });
  return [...found].sort((a, b) => a - b);
}

describe("the documents that are redundant", () => {
  it("are all but the primary, where it is the centre", async () => {
    expect(await redundant([group([1, 2, 3], { centre: 1, primary: 1 })])).toEqual([2, 3]);
  });

  it("are those that are like the primary: a chosen one need not be the centre", async () => {
    const chain = [group([1, 2, 3], { centre: 2, primary: 1 })];
    expect(await redundant(chain)).toEqual([2]);
    expect(await redundant(chain, { similar: ["1-3"] })).toEqual([2, 3]);
  });

  it("are no primaries of other groups", async () => {
    const groups = [
      group([1, 2, 3], { centre: 2, primary: 2 }),
      group([3, 4, 5], { centre: 4, primary: 3 }),
    ];
    expect(await redundant(groups)).toEqual([1, 4]);
  });

  it("are none of those that stay in any case, but others for their sake", async () => {
    const groups = [group([1, 2, 3], { centre: 2, primary: 2 })];
    const found = await findRedundant({
      groups,
      stays: new Set([3]),
      isTruncated: () => false,
      verify: (pairs) => Promise.resolve(pairs.map(() => false)),
    });
    expect([...found]).toEqual([1]);
  });

  it("are copies of one that stays although it is like no primary", async () => {
    const groups = [group([1, 2, 3, 4], { centre: 2, primary: 1, texts: "abcc" })];
    expect(await redundant(groups)).toEqual([2, 4]);
  });

  it("are texts of which only the beginning was compared only as exact copies", async () => {
    const near = [group([1, 2], { centre: 1, primary: 1 })];
    expect(await redundant(near, { truncated: [2] })).toEqual([]);
    expect(await redundant(near, { truncated: [1] })).toEqual([]);
    const equal = [group([1, 2], { centre: 1, primary: 1, texts: "aa" })];
    expect(await redundant(equal, { truncated: [1, 2] })).toEqual([2]);
  });

  it("each have a verified pair with a document that stays, whatever the groups", async () => {
    const groupsOf = fc
      .array(
        fc.record({
          members: fc.uniqueArray(fc.integer({ min: 0, max: 30 }), { minLength: 2, maxLength: 8 }),
          centre: fc.nat(),
          primary: fc.nat(),
        }),
        { minLength: 1, maxLength: 12 },
      )
      .map((drawn) =>
        drawn.map(({ members, centre, primary }) => {
          const sorted = members.toSorted((a, b) => a - b);
          return group(sorted, {
            centre: sorted[centre % sorted.length] ?? 0,
            primary: sorted[primary % sorted.length] ?? 0,
          });
        }),
      );
    await fc.assert(
      fc.asyncProperty(
        groupsOf,
        fc.uniqueArray(fc.integer({ min: 0, max: 30 })),
        fc.integer({ min: 0, max: 7 }),
        async (groups, truncated, salt) => {
          const isSimilar = (a: number, b: number): boolean => (a + b + salt) % 3 === 0;
          const asked: DocumentPair[] = [];
          const gone = await findRedundant({
            groups,
            isTruncated: (document) => truncated.includes(document),
            verify: (pairs) => {
              asked.push(...pairs);
              return Promise.resolve(pairs.map(([a, b]) => isSimilar(a, b)));
            },
          });
          const verified = (a: number, b: number): boolean =>
            groups.some(({ found }) =>
              found.pairs.some((pair) => {
                const own = [found.members[pair.a], found.members[pair.b]];
                return own.includes(a) && own.includes(b);
              }),
            ) || asked.some((pair) => pair.includes(a) && pair.includes(b) && isSimilar(a, b));
          const all = new Set(groups.flatMap(({ found }) => found.members));
          for (const { primary } of groups) expect(gone.has(primary)).toBe(false);
          for (const document of gone) {
            expect(truncated).not.toContain(document);
            expect([...all].some((other) => !gone.has(other) && verified(document, other))).toBe(
              true,
            );
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
