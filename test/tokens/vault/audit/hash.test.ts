import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createHasher, hashedJson, isTime } from "../../../../src/tokens/vault/audit/hash.ts";
import { parseExact } from "../../../../src/tokens/logical/json.ts";

const hasher = createHasher(Buffer.alloc(32, 1));
const { hash } = hasher;

/** What should come out, written plainly. */
function expected(value: unknown): unknown {
  if (typeof value === "string") return isTime(value) ? value : hash(value);
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value)
    ? value.map(expected)
    : Object.fromEntries(Object.entries(value).map(([name, item]) => [name, expected(item)]));
}

describe("hashed data", () => {
  it("is JSON of the same shape in which every text but points in time is hashed, whatever the value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(hashedJson(value, hash))).toEqual(
          JSON.parse(JSON.stringify(expected(value))),
        );
      }),
    );
  });

  it("keeps the digits of numbers, names as they are, and leaves out what is not there", () => {
    expect(hashedJson(parseExact('{"id":90071992547409931234,"a\\"b":1.50}'), hash)).toBe(
      '{"id":90071992547409931234,"a\\"b":1.50}',
    );
    expect(hashedJson({ a: undefined, b: null, c: true }, hash)).toBe('{"b":null,"c":true}');
  });

  it("has no name and no number of more than 256 bytes in clear", () => {
    const [digits, name, wide] = ["1".repeat(257), "n".repeat(257), "ä".repeat(129)];
    expect(
      JSON.parse(
        hashedJson({ [name]: parseExact(digits), [wide]: true, ["n".repeat(256)]: 1 }, hash),
      ),
    ).toEqual({ [hash(name)]: hash(digits), [hash(wide)]: true, ["n".repeat(256)]: 1 });
  });
});

describe("a hash in pieces", () => {
  it("is the hash of the whole", () => {
    const running = hasher.begin();
    for (const piece of ["a", "", "ä😀", "b"]) running.update(piece);
    expect(running.end()).toBe(hash("aä😀b"));
  });
});

describe("a point in time", () => {
  it("is what RFC 3339 writes and nothing that only looks like it", () => {
    for (const text of [
      "2026-11-21T04:17:54Z",
      "2026-11-21T04:17:54.123456789+01:00",
      "2024-02-29T00:00:00-23:59",
    ])
      expect([text, isTime(text)]).toEqual([text, true]);
    for (const text of [
      "2026-11-21",
      "2026-13-21T04:17:54Z",
      "2026-02-29T00:00:00Z",
      "2026-11-21T24:00:00Z",
      "2026-11-21 04:17:54Z",
      "2026-11-21T04:17:54",
      `2026-11-21T04:17:54.${"1".repeat(400)}Z`,
      "",
    ])
      expect([text, isTime(text)]).toEqual([text, false]);
  });
});
