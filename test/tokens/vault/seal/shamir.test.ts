import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { combine, split } from "shamir-secret-sharing";
import { describe, expect, it } from "vitest";
import { combineShares, splitSecret } from "../../../../src/tokens/vault/seal/shamir.ts";

const random = (length: number): Uint8Array => new Uint8Array(randomBytes(length));
const secrets = fc.uint8Array({ minLength: 1, maxLength: 40 });
const terms = fc
  .tuple(fc.integer({ min: 2, max: 20 }), fc.integer({ min: 0, max: 10 }))
  .map(([threshold, more]) => ({ threshold, count: threshold + more }));

/** Deterministic bytes that never run out. */
function counting(): (length: number) => Uint8Array {
  let next = 0;
  return (length) => Uint8Array.from({ length }, () => (next += 7) & 0xff);
}

describe("a secret that is split", () => {
  it("is made again by any of its shares, as many as the threshold or more, in any order", () => {
    fc.assert(
      fc.property(
        secrets,
        terms,
        fc.infiniteStream(fc.nat()),
        (secret, { threshold, count }, order) => {
          const shares = splitSecret(secret, { threshold, count }, random);
          expect(shares).toHaveLength(count);
          const shuffled = shares
            .map((share) => ({ share, rank: order.next().value ?? 0 }))
            .toSorted((left, right) => left.rank - right.rank)
            .map(({ share }) => share);
          for (const used of [threshold, count])
            expect(combineShares(shuffled.slice(0, used))).toEqual(secret);
        },
      ),
    );
  });

  it("has shares of one byte more, whose last bytes are different and never 0", () => {
    fc.assert(
      fc.property(secrets, fc.integer({ min: 2, max: 255 }), (secret, count) => {
        const shares = splitSecret(secret, { threshold: 2, count }, random);
        const xs = new Set(shares.map((share) => share[secret.length]));
        expect([xs.size, xs.has(0), xs.has(undefined)]).toEqual([count, false, false]);
        expect(new Set(shares.map(({ length }) => length))).toEqual(new Set([secret.length + 1]));
      }),
      { numRuns: 30 },
    );
  });

  it("is not made by fewer shares than the threshold, nor by a changed one", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 16, maxLength: 32 }),
        fc.integer({ min: 3, max: 8 }),
        fc.nat(1_000),
        (secret, threshold, at) => {
          const shares = splitSecret(secret, { threshold, count: threshold }, random);
          expect(combineShares(shares.slice(1))).not.toEqual(secret);
          const [first, ...rest] = shares;
          const changed = Uint8Array.from(first ?? []);
          const index = at % secret.length;
          changed[index] = (changed[index] ?? 0) ^ (1 + (at % 255));
          expect(combineShares([changed, ...rest])).not.toEqual(secret);
        },
      ),
    );
  });

  it("is understood by another implementation of Vault's format, and the other way round", async () => {
    await fc.assert(
      fc.asyncProperty(secrets, terms, async (secret, { threshold, count }) => {
        const mine = splitSecret(secret, { threshold, count }, random);
        expect(await combine(mine.slice(0, threshold))).toEqual(secret);
        const theirs = await split(secret, count, threshold);
        expect(combineShares(theirs.slice(count - threshold))).toEqual(secret);
      }),
      { numRuns: 50 },
    );
  });

  it("is shared by values that say nothing: below the threshold every secret fits the shares", () => {
    // With one of two shares known, each value of the secret is the result of exactly one value of
    // the other share.
    const [known = new Uint8Array(), other = new Uint8Array()] = splitSecret(
      Uint8Array.of(42),
      { threshold: 2, count: 2 },
      random,
    );
    const possible = Array.from({ length: 256 }, (_, value) =>
      combineShares([known, Uint8Array.of(value, other[1] ?? 0)]),
    );
    expect(new Set(possible.map(([secret]) => secret)).size).toBe(256);
  });

  it("takes the randomness that it is given, and skips coordinates that are 0 or taken", () => {
    const shares = splitSecret(Uint8Array.of(1, 2, 3), { threshold: 3, count: 255 }, counting());
    expect(new Set(shares.map((share) => share[3])).size).toBe(255);
    expect(combineShares(shares.slice(100, 103))).toEqual(Uint8Array.of(1, 2, 3));
  });
});

describe("what cannot be", () => {
  it.each([
    [1, 1],
    [1, 5],
    [3, 2],
    [2, 256],
    [256, 256],
  ])("a threshold of %i among %i shares", (threshold, count) => {
    expect(() => splitSecret(Uint8Array.of(1), { threshold, count }, random)).toThrow(
      expect.objectContaining({ code: "invalid" }) as Error,
    );
  });

  it("combining one share, shares of different lengths, empty ones, or one twice", () => {
    const [a = new Uint8Array(), b = new Uint8Array()] = splitSecret(
      Uint8Array.of(1, 2),
      { threshold: 2, count: 2 },
      random,
    );
    for (const [shares, text] of [
      [[], "less than two parts"],
      [[a], "less than two parts"],
      [[a, b.slice(1)], "same length"],
      [[Uint8Array.of(1), Uint8Array.of(2)], "at least two bytes"],
      [[a, b, a], "duplicate part detected"],
    ] as const)
      expect(() => combineShares(shares)).toThrow(text);
  });
});
