import { describe, expect, it } from "vitest";
import { Secret } from "../../../../src/kernel/base/secret.ts";
import type { CoreAnswer, Wrapping } from "../../../../src/tokens/vault/core/types.ts";
import { createWrapping } from "../../../../src/tokens/vault/core/wrapping.ts";
import { envelope } from "../../../../src/tokens/vault/http/envelope.ts";
import { mountTables, wrappedAnswers } from "../../../../src/tokens/vault/mounts/tables.ts";
import { createTokenBench, type TokenBench } from "../fixtures/tokens.ts";

const answer: CoreAnswer = {
  requestId: "r",
  isRead: true,
  response: { data: { token: "ghs_1" } },
  lease: { id: "m/token/x", renewable: false, durationSeconds: 60 },
  auth: undefined,
  wrap: undefined,
  warnings: [],
  copyToTop: false,
};

async function bench(): Promise<{
  wrapping: Wrapping;
  bench: TokenBench;
  rows: () => number;
  ended: string[];
}> {
  const made = await createTokenBench({ tables: mountTables });
  const ended: string[] = [];
  return {
    ended,
    wrapping: createWrapping({
      env: made.env,
      tokens: made.tokens,
      leases: { endIn: (_tx, id) => void ended.push(id) },
      clock: made.clock,
      envelope,
    }),
    bench: made,
    rows: () => made.env.read((snapshot) => snapshot.count(wrappedAnswers)),
  };
}

describe("a wrapped answer", () => {
  it("is fetched once, whole, lease and all", async () => {
    const { wrapping, rows } = await bench();
    const { token, info } = await wrapping.wrap(answer, { path: "m/token", ttlMs: 60_000 });
    expect(info).toMatchObject({
      ttl: 60,
      creation_path: "m/token",
      token: token.use((value) => value),
    });
    expect(wrapping.lookup(token)).toMatchObject({ creationPath: "m/token", ttlMs: 60_000 });
    expect(JSON.parse((await wrapping.unwrap(token)).envelope)).toMatchObject({
      lease_id: "m/token/x",
      data: { token: "ghs_1" },
      wrap_info: null,
    });
    await expect(wrapping.unwrap(token)).rejects.toThrow(
      "wrapping token is not valid or does not exist",
    );
    expect(() => wrapping.lookup(token)).toThrow("wrapping token is not valid or does not exist");
    expect(rows()).toBe(0);
  });

  it("ends its lease when its token ends unfetched, and then only", async () => {
    const {
      wrapping,
      bench: { clock, tokens },
      ended,
    } = await bench();
    const wrap = async (): Promise<Secret> =>
      (await wrapping.wrap(answer, { path: "m/token", ttlMs: 1_000 })).token;
    await wrapping.unwrap(await wrap());
    const again = await wrapping.rewrap(await wrap());
    expect(ended).toEqual([]);
    await tokens.revoke(tokens.lookup(Secret.of(again.token, "test"))?.key ?? "");
    expect(ended).toEqual(["m/token/x"]);
    await wrap();
    await clock.advance(20_000);
    expect(ended).toEqual(["m/token/x", "m/token/x"]);
    await wrapping.wrap({ ...answer, lease: undefined }, { path: "m/x", ttlMs: 1_000 });
    await clock.advance(20_000);
    expect(ended).toHaveLength(2);
  });

  it("goes to one of two who fetch it at once", async () => {
    const { wrapping } = await bench();
    const { token } = await wrapping.wrap(answer, { path: "m/token", ttlMs: 60_000 });
    const both = await Promise.allSettled([wrapping.unwrap(token), wrapping.unwrap(token)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
  });

  it("goes when its time is over", async () => {
    const {
      wrapping,
      bench: { clock },
      rows,
    } = await bench();
    const { token } = await wrapping.wrap(answer, { path: "m/token", ttlMs: 1_000 });
    await clock.advance(1_500);
    await expect(wrapping.unwrap(token)).rejects.toThrow("wrapping token is not valid");
    await clock.advance(20_000);
    expect(rows()).toBe(0);
  });

  it("moves to a new token whole, and the old one finds nothing", async () => {
    const { wrapping, rows } = await bench();
    const { token } = await wrapping.wrap(answer, { path: "m/token", ttlMs: 60_000 });
    const info = await wrapping.rewrap(token);
    expect(info).toMatchObject({ ttl: 60, creation_path: "m/token" });
    expect(rows()).toBe(1);
    await expect(wrapping.unwrap(token)).rejects.toThrow("wrapping token is not valid");
    await expect(wrapping.rewrap(token)).rejects.toThrow("wrapping token is not valid");
    expect(
      JSON.parse((await wrapping.unwrap(Secret.of(info.token, "test"))).envelope),
    ).toMatchObject({ lease_id: "m/token/x" });
  });

  it("has a largest size, and an unknown token has none", async () => {
    const { wrapping } = await bench();
    await expect(
      wrapping.wrap(
        { ...answer, response: { data: { a: "x".repeat(600_000) } } },
        { path: "m/token", ttlMs: 1_000 },
      ),
    ).rejects.toThrow("cannot be wrapped");
    await expect(wrapping.unwrap(Secret.of("hvs.none", "test"))).rejects.toThrow(
      "wrapping token is not valid",
    );
  });
});
