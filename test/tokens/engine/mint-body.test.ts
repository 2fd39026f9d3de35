import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMintBody, type MintBody } from "../../../src/tokens/engine/platform/mint-body.ts";

const wide = "x".repeat(6_500);
const repository = (id: number): object => ({
  id,
  name: `r"${id}`,
  owner: { name: "not this one", wide },
  topics: ["name"],
});
const answer = (count: number): Record<string, unknown> => ({
  token: "ghs_1",
  expires_at: "2026-11-21T04:17:54Z",
  permissions: { contents: "read" },
  repositories: Array.from({ length: count }, (_, id) => repository(id)),
  repository_selection: "selected",
});

/** Sends a text in pieces; how many were taken. */
function send(body: MintBody, text: string, bytes = 65_536): number {
  const all = Buffer.from(text);
  let taken = 0;
  for (let from = 0; from < all.length; from += bytes) {
    if (!body.push(all.subarray(from, from + bytes))) return taken;
    taken += 1;
  }
  return taken;
}

const parsed = (body: MintBody): any => JSON.parse(body.whole().toString());

describe("the body of a mint's answer", () => {
  it("is what came while it is small, whether names are enough or not", () => {
    for (const namesOnly of [true, false]) {
      const body = createMintBody({ namesOnly });
      send(body, JSON.stringify(answer(20)), 1_000);
      expect([parsed(body), body.token()]).toEqual([answer(20), "ghs_1"]);
    }
  });

  it("with 2,000 repositories is reduced to their names where that is enough, all else as it came", () => {
    const body = createMintBody({ namesOnly: true });
    send(body, JSON.stringify(answer(2_000)));
    expect(parsed(body)).toEqual({
      ...answer(0),
      repositories: Array.from({ length: 2_000 }, (_, id) => ({ name: `r"${id}` })),
    });
    expect([body.whole().length < 100_000, body.token()]).toEqual([true, "ghs_1"]);
  });

  it("that is larger than is kept is no longer wanted once its token has come, wherever that stands", () => {
    const first = createMintBody({ namesOnly: false });
    expect(send(first, JSON.stringify(answer(2_000))) * 65_536).toBeLessThan(8.1 * 2 ** 20);
    expect(first.token()).toBe("ghs_1");
    const { token, ...rest } = answer(2_000);
    const last = createMintBody({ namesOnly: false });
    send(last, JSON.stringify({ ...rest, token }));
    expect(last.token()).toBe("ghs_1");
  });

  it("gives its token before it is whole, and none while that is half, no text, or unfit for a header", () => {
    const tokenIn = (text: string): string | undefined => {
      const body = createMintBody({ namesOnly: false });
      send(body, text);
      return body.token();
    };
    expect(
      [
        '{"token":"ghs_1","exp',
        '{"a":{"token":"no"},"token":"ghs_2",',
        '{"token":"ghs',
        '{"token":5,',
        '{"token":"a b\\n",',
        "<html>",
        "",
        "[]",
        '["token","x"]',
        '{"token":"ghs_1","token":"ghs_3"}',
      ].map(tokenIn),
    ).toEqual([
      "ghs_1",
      "ghs_2",
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      "ghs_3",
    ]);
  });

  it("is given up beyond 64 MiB, and where one part of it has no end", () => {
    const blanks = Buffer.alloc(2 ** 20, " ");
    const endless = createMintBody({ namesOnly: true });
    let taken = 0;
    while (endless.push(blanks)) taken += 1;
    expect(taken).toBe(64);
    const open = createMintBody({ namesOnly: false });
    open.push(Buffer.from('{"token":"'));
    let pushed = 0;
    while (open.push(Buffer.alloc(2 ** 20, "x"))) pushed += 1;
    expect(pushed).toBeLessThanOrEqual(8);
  });

  it("reads the same in pieces of any length", () => {
    const value = {
      repositories: [null, 5, {}, [], { name: null }, { name: "ä😀" }],
      token: "ghs_1",
      a: '\\"',
      repositories2: [{ name: 1 }],
    };
    const expected = {
      ...value,
      repositories: [null, null, { name: null }, null, { name: null }, { name: "ä😀" }],
    };
    const text = `${" ".repeat(300_000)}${JSON.stringify(value)}`;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), (bytes) => {
        const body = createMintBody({ namesOnly: true });
        body.push(Buffer.from(text.slice(0, 299_990)));
        send(body, text.slice(299_990), bytes);
        expect([parsed(body), body.token()]).toEqual([expected, "ghs_1"]);
      }),
      { numRuns: 60 },
    );
  });
});
