import { describe, expect, it } from "vitest";
import { base62Digits, createIds, systemIds, type Ids } from "../../../src/kernel/base/ids.ts";

/** Bytes that count up from `first`. */
function counting(first: number): Ids {
  let next = first;
  return createIds((length) => Uint8Array.from({ length }, () => next++ & 0xff));
}

describe.each([
  ["the system", systemIds],
  ["a seed", counting(0)],
])("identifiers from %s", (_, ids) => {
  it("have their forms", () => {
    expect(ids.nanoid()).toMatch(/^[\w-]{21}$/);
    expect(ids.base62(40)).toMatch(/^[0-9A-Za-z]{40}$/);
    expect(ids.uuid()).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
    expect(ids.bytes(7)).toHaveLength(7);
  });

  it("never begin with a dash, which would make an option of them", () => {
    for (let left = 2_000; left > 0; left -= 1) expect(ids.nanoid()).not.toMatch(/^-/);
  });

  it("are new each time", () => {
    for (const make of [() => ids.nanoid(), () => ids.base62(20), () => ids.uuid()])
      expect(new Set(Array.from({ length: 10 }, make)).size).toBe(10);
  });
});

describe("identifiers from one seed", () => {
  it("are the same", () => {
    const all = (ids: Ids): unknown[] => [ids.nanoid(), ids.base62(9), ids.uuid(), ids.bytes(3)];
    expect(all(counting(7))).toEqual(all(counting(7)));
    expect(counting(0).uuid()).toBe("00010203-0405-4607-8809-0a0b0c0d0e0f");
  });
});

it("writes numbers in base 62 with as many digits as are asked for", () => {
  expect([
    base62Digits(0, 3),
    base62Digits(61, 1),
    base62Digits(62, 2),
    base62Digits(62 ** 3 - 1, 3),
    base62Digits(62 ** 3 + 10, 3),
  ]).toEqual(["000", "z", "10", "zzz", "00A"]);
});
