import fc from "fast-check";
import { expect, it } from "vitest";
import { boundedBatches } from "../../../src/kernel/base/batches.ts";

const LIMITS = [10, 100] as const;
const items = fc.array(fc.tuple(fc.nat(12), fc.nat(120)));
const exceeds = (batch: readonly (readonly number[])[]): boolean =>
  LIMITS.some((limit, at) => batch.reduce((sum, sizes) => sum + (sizes[at] ?? 0), 0) > limit);

it("batches keep the order, stay within each limit unless of one item, and are as large as that allows", () => {
  fc.assert(
    fc.property(items, (all) => {
      const batches = [...boundedBatches(all, LIMITS, (item) => item)];
      expect(batches.flat()).toEqual(all);
      for (const [at, batch] of batches.entries()) {
        expect(batch.length === 1 || !exceeds(batch)).toBe(true);
        const next = batches[at + 1]?.[0];
        if (next !== undefined) expect(exceeds([...batch, next])).toBe(true);
      }
    }),
  );
});

it("nothing makes no batch", () => {
  expect([...boundedBatches([], LIMITS, () => [1, 1])]).toEqual([]);
});
