import { randomBytes } from "node:crypto";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { SortedTexts } from "../../../../src/tokens/vault/token-store/sorted-texts.ts";
import { countTurns, slowClock } from "../../support/turns.ts";

const { signal } = new AbortController();

function sortedOf(texts: readonly string[]): SortedTexts {
  const sorted = new SortedTexts();
  for (const text of texts) sorted.add(text);
  return sorted;
}

it("sorts as one piece would be sorted, and takes the first of them", async () => {
  const text = fc.string({ unit: "binary", maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.array(text), fc.nat(5), async (texts, limit) => {
      expect(await sortedOf(texts).take(Number.POSITIVE_INFINITY, signal)).toEqual(
        texts.toSorted(),
      );
      expect(await sortedOf(texts).take(limit, signal)).toEqual(texts.toSorted().slice(0, limit));
    }),
  );
});

it("gives the loop turns between small pieces, and sorts no more than is taken", async () => {
  const texts = Array.from({ length: 20_000 }, () => randomBytes(18).toString("base64url"));
  slowClock();
  const turns = countTurns();
  expect(await sortedOf(texts).take(Number.POSITIVE_INFINITY, signal)).toEqual(texts.toSorted());
  const forAll = turns();
  expect(forAll).toBeGreaterThan(500);
  await sortedOf(texts).take(10, signal);
  expect(turns() - forAll).toBeLessThan(5);
});
