import { setImmediate } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseExact, rawNumber } from "../../../../src/tokens/logical/json.ts";
import type { Data } from "../../../../src/tokens/logical/types.ts";
import { hashedData } from "../../../../src/tokens/vault/audit/collapse.ts";
import { createHasher, hashedJson } from "../../../../src/tokens/vault/audit/hash.ts";

const hasher = createHasher(Buffer.alloc(32, 1));
const { hash } = hasher;
const room = { values: 256, bytes: 24 * 1024 };

async function written(data: Data): Promise<any> {
  const text = await hashedData(data, hasher, room);
  // The room, what names tokens, and a marker at each level.
  expect(Buffer.byteLength(text)).toBeLessThan(room.bytes + 4_096);
  return JSON.parse(text);
}

const texts = (count: number, name = "r"): string[] =>
  Array.from({ length: count }, (_, index) => `${name}${index}`);

describe("data of a record", () => {
  it("is written at once and value by value while there are no more than 256", () => {
    const data = { repositories: texts(250), a: 1, b: { c: [true, null, "x"] }, token: "t" };
    expect(hashedData(data, hasher, room)).toBe(hashedJson(data, hash));
  });

  it("of a mint with 2,000 repositories still shows what names the token, and the members that are not large", async () => {
    const repository = (id: number): Data => ({
      id,
      name: `r${id}`,
      owner: { login: "example-org", urls: texts(30, `o${id}-`) },
      urls: texts(60, `u${id}-`),
    });
    const data = {
      token: "ghs_1",
      expires_at: "2026-11-21T04:17:54Z",
      permissions: { contents: "read", issues: "write" },
      repository_selection: "selected",
      repositories: Array.from({ length: 2_000 }, (_, id) => repository(id)),
      installation_id: 5,
      org_name: "example-org",
      hashed_token: "abc=",
      accessor: "acc",
    };
    const shown = await written(data);
    expect(shown).toMatchObject({
      token: hash("ghs_1"),
      expires_at: "2026-11-21T04:17:54Z",
      permissions: { contents: hash("read"), issues: hash("write") },
      repository_selection: hash("selected"),
      installation_id: 5,
      org_name: hash("example-org"),
      hashed_token: hash("abc="),
      accessor: hash("acc"),
    });
    expect(Object.keys(shown)).toEqual(Object.keys(data));
    const [first, second] = shown.repositories;
    expect([first.name, second.id]).toEqual([hash("r0"), 1]);
    expect(shown.repositories.at(-1).too_many_values).toEqual({
      count: expect.any(Number),
      hash: expect.stringMatching(/^hmac-sha256:[0-9a-f]{64}$/) as string,
    });
    const whole = shown.repositories.length - 2;
    expect(shown.repositories.at(-1).too_many_values).toEqual({
      count: (2_000 - whole - 1) * 93,
      hash: hash(JSON.stringify(data.repositories.slice(whole + 1))),
    });
  });

  it("shows the first values of a long list, and the rest as one hash with its count", async () => {
    const list = texts(5_000);
    const { repositories } = await written({ repositories: list });
    expect(repositories.slice(0, -1)).toEqual(list.slice(0, repositories.length - 1).map(hash));
    expect(repositories.length).toBeGreaterThan(240);
    expect(repositories.at(-1)).toEqual({
      too_many_values: {
        count: 5_001 - repositories.length,
        hash: hash(JSON.stringify(list.slice(repositories.length - 1))),
      },
    });
  });

  it("with very many members shows the first of them and the names of tokens, wherever they stand", async () => {
    const data = {
      ...Object.fromEntries(texts(50_000, "k").map((name) => [name, name])),
      hashed_token: "h",
      wrapped_accessor: "w",
      token: "t",
    };
    const shown = await written(data);
    expect(shown).toMatchObject({
      k0: hash("k0"),
      k199: hash("k199"),
      hashed_token: hash("h"),
      token: hash("t"),
      wrapped_accessor: hash("w"),
    });
    const names = Object.keys(shown).filter((name) => name.startsWith("k"));
    expect(shown.too_many_values).toEqual({
      count: 50_000 - names.length,
      hash: hash(
        JSON.stringify(
          Object.fromEntries(Object.entries(data).filter(([name]) => !(name in shown))),
        ),
      ),
    });
  });

  it("is bounded whatever it looks like: long names, long numbers, deep lists, many empty ones, many large ones", async () => {
    const cases: Data[] = [
      Object.fromEntries(texts(2_000, "n".repeat(300)).map((name) => [name, 1])),
      Object.fromEntries(texts(500, "\u0001".repeat(200)).map((name) => [name, 1])),
      {
        numbers: parseExact(`[${Array.from({ length: 2_000 }, () => "1".repeat(255)).join(",")}]`),
      },
      {
        deep: Array.from({ length: 100 }).reduce<unknown>(
          (inner) => [inner, ...texts(30)],
          texts(3_000),
        ),
      },
      {
        empty: Array.from({ length: 50_000 }, () => []),
        more: Array.from({ length: 50_000 }, () => ({})),
      },
      Object.fromEntries(texts(300).map((name) => [name, texts(1_000)])),
      Object.fromEntries(texts(5_000, "accessor").map((name, index) => [`${index}accessor`, name])),
    ];
    for (const [index, data] of cases.entries()) {
      const text = await hashedData(data, hasher, room);
      expect(JSON.parse(text), `case ${index}`).toBeTypeOf("object");
      // Control characters of names take six bytes each; the record as a whole is bounded by its
      // line.
      if (index !== 1)
        expect(Buffer.byteLength(text), `case ${index}`).toBeLessThan(room.bytes + 4_096);
    }
  });

  it("with a string or a number of many megabytes holds the same hash as ever, and lets others have their turn meanwhile", async () => {
    const text = `x${"😀".repeat(2_000_000)}y`;
    let turns = 0;
    const over = new AbortController();
    const watch = (async () => {
      for (; !over.signal.aborted; turns += 1) await setImmediate();
    })();
    const shown = await written({
      a: text,
      b: rawNumber("9".repeat(1_000_000)),
      c: ["z", { d: text }],
      e: texts(300),
    });
    over.abort();
    await watch;
    expect([shown.a, shown.b, shown.c]).toEqual([
      hash(text),
      hash("9".repeat(1_000_000)),
      [hash("z"), { d: hash(text) }],
    ]);
    expect(turns).toBeGreaterThan(20);
  });

  it("never shows a string, whatever the data", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ minLength: 1, maxLength: 3 }), fc.jsonValue({ maxDepth: 4 })),
        fc.integer({ min: 0, max: 6 }),
        async (data, values) => {
          const shown = JSON.parse(
            await hashedData(data, hasher, { values, bytes: values * 100 }),
          ) as unknown;
          const visit = (value: unknown): void => {
            if (typeof value === "string") expect(value).toMatch(/^hmac-sha256:[0-9a-f]{64}$/);
            else if (typeof value === "object" && value !== null)
              Object.values(value).forEach(visit);
          };
          visit(shown);
        },
      ),
      { numRuns: 300 },
    );
  });
});
