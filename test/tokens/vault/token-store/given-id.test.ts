import { describe, expect, it } from "vitest";
import { Secret } from "../../../../src/kernel/base/secret.ts";
import { createTokenBench, HOUR_MS, specOf, type TokenBench } from "../fixtures/tokens.ts";

const id = Secret.of("demo", "test");

async function former(bench: TokenBench, more: Parameters<typeof specOf>[0] = {}) {
  const token = await bench.tokens.create(specOf({ id, ...more }));
  const parent = token.entry.key;
  const child = await bench.tokens.create(specOf({ parent, ttlMs: 100_000 * HOUR_MS }));
  const ended: string[] = [];
  bench.tokens.onEnd((_tx, { key }) => void ended.push(key));
  return { token, child, ended };
}

describe("a token with the id of a former one", () => {
  it("replaces one that is over by the wall clock alone, with its children, and has its own life", async () => {
    const bench = await createTokenBench();
    const { token, child, ended } = await former(bench);
    await bench.clock.advance(1_000);
    bench.clock.step(40 * 24 * HOUR_MS);
    expect(bench.tokens.lookup(id)).toBeUndefined();
    const made = await bench.tokens.create(specOf({ id, displayName: "second" }));
    expect(new Set(ended)).toEqual(new Set([token.entry.key, child.entry.key]));
    expect(bench.tokens.lookup(id)).toEqual(made.entry);
    expect(bench.tokens.lookup(child.id)).toBeUndefined();
    bench.clock.step(-40 * 24 * HOUR_MS);
    expect(bench.tokens.lookup(id)?.displayName).toBe("second");
    await bench.clock.advance(HOUR_MS);
    expect(bench.tokens.lookup(id)).toBeUndefined();
  });

  it("replaces one whose time is over before its timer has removed it", async () => {
    const bench = await createTokenBench({ run: false });
    await former(bench);
    await bench.clock.advance(HOUR_MS);
    const made = await bench.tokens.create(specOf({ id }));
    expect(bench.tokens.lookup(id)).toEqual(made.entry);
  });

  it("replaces none that is live, nor one in its last use", async () => {
    const bench = await createTokenBench();
    const { token, ended } = await former(bench, { numUses: 1 });
    const duplicate = () => bench.tokens.create(specOf({ id }));
    await expect(duplicate()).rejects.toThrow("duplicate ID");
    expect(await bench.tokens.use(token.entry)).toMatchObject({ numUses: -1 });
    await expect(duplicate()).rejects.toThrow("duplicate ID");
    expect(ended).toEqual([]);
  });
});
