import { expect, it } from "vitest";
import { backoffMs } from "../../../src/kernel/async/backoff.ts";

it("doubles the delay with each failure in a row, up to its maximum", () => {
  const rule = { firstMs: 500, maxMs: 3_000 };
  expect([1, 2, 3, 4, 5].map((failures) => backoffMs(failures, rule))).toEqual([
    500, 1_000, 2_000, 3_000, 3_000,
  ]);
  expect(backoffMs(10_000, rule)).toBe(3_000);
});
