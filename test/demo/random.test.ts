import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/demo/random.ts";

describe("seeded randomness", () => {
  it("repeats itself, and a fork moves nothing", () => {
    const [a, b] = [createRandom(7), createRandom(7)];
    a.fork("x").next();
    expect([a.next(), a.next()]).toEqual([b.next(), b.next()]);
    expect(createRandom(7).fork("x").next()).not.toBe(createRandom(7).fork("y").next());
    expect(createRandom(7).next()).not.toBe(createRandom(8).next());
  });

  it("is even, whole and within bounds", () => {
    const random = createRandom(1);
    const counts = Array.from({ length: 6 }, () => 0);
    for (let draw = 0; draw < 60_000; draw++) {
      const value = random.integer(1, 6);
      counts[value - 1] = (counts[value - 1] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(400);
  });

  it("shuffles without losing anything and refuses to pick from nothing", () => {
    const random = createRandom(1);
    const list = [1, 2, 3, 4, 5, 6, 7, 8];
    const mixed = random.shuffle(list);
    expect(mixed).not.toEqual(list);
    expect(mixed.toSorted((a, b) => a - b)).toEqual(list);
    expect(() => random.pick([])).toThrow("nothing to pick from");
  });
});
