import { describe, expect, it } from "vitest";
import { MAX_QUERIES, ReverseDnsCache } from "../../../src/monitor/reverse-dns/cache.ts";
import type { ReverseDnsOptions } from "../../../src/monitor/reverse-dns/types.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";
import { createLog } from "../../../src/kernel/base/log.ts";

interface Query {
  readonly address: string;
  answer(names: readonly string[]): Promise<void>;
  fail(): Promise<void>;
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

function open(options: Partial<ReverseDnsOptions> = {}) {
  const clock = createManualClock();
  const queries: Query[] = [];
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    format: "json",
    write: (line) => void lines.push(line),
    now: () => 0,
  });
  const cache = new ReverseDnsCache(
    {
      clock,
      log,
      resolver: {
        resolve: (address) =>
          new Promise((resolve, reject) =>
            queries.push({
              address,
              answer: (names) => (resolve(names), settled()),
              fail: () => (reject(Object.assign(new Error("no"), { code: "ETIMEOUT" })), settled()),
            }),
          ),
        cancel: () => undefined,
      },
    },
    {
      server: "",
      timeoutMs: 1,
      cacheTtlMs: 1_000,
      negativeTtlMs: 100,
      staleTtlMs: 500,
      maxEntries: 100,
      ...options,
    },
  );
  return { cache, clock, queries, lines };
}

describe("a reverse name", () => {
  it("is unknown at first, asked for once, and then there until its time is over", async () => {
    const { cache, clock, queries } = open();
    expect([cache.nameOf("a"), cache.nameOf("a"), queries.length]).toEqual([
      undefined,
      undefined,
      1,
    ]);
    await queries[0]?.answer(["z.example", "b.example"]);
    expect(cache.nameOf("a")).toBe("b.example");
    await clock.advance(999);
    expect([cache.nameOf("a"), queries.length]).toEqual(["b.example", 1]);
    expect(cache.figures()).toMatchObject({ size: 1, hits: 2, misses: 2, answered: 1 });
  });

  it("is shown while one refresh runs, and replaced by its answer", async () => {
    const { cache, clock, queries } = open();
    cache.nameOf("a");
    await queries[0]?.answer(["old"]);
    await clock.advance(1_000);
    expect([cache.nameOf("a"), cache.nameOf("a"), queries.length]).toEqual(["old", "old", 2]);
    await queries[1]?.answer(["new"]);
    expect(cache.nameOf("a")).toBe("new");
    expect(cache.figures()).toMatchObject({ stale: 2, hits: 1, refreshed: 1, size: 1 });
  });

  it("outlives a refresh that fails, which is not repeated at once, and ends with its second time", async () => {
    const { cache, clock, queries } = open();
    cache.nameOf("a");
    await queries[0]?.answer(["old"]);
    await clock.advance(1_000);
    cache.nameOf("a");
    await queries[1]?.fail();
    expect([cache.nameOf("a"), queries.length]).toEqual(["old", 2]);
    await clock.advance(100);
    expect([cache.nameOf("a"), queries.length]).toEqual(["old", 3]);
    await queries[2]?.fail();
    await clock.advance(400);
    expect(cache.nameOf("a")).toBeUndefined();
    expect(cache.figures()).toMatchObject({ refreshesFailed: 2, staleExpired: 1, failed: 2 });
  });

  it("that does not exist, or that nobody told, is not asked for again for a while", async () => {
    const { cache, clock, queries, lines } = open();
    for (const address of ["a", "b"]) cache.nameOf(address);
    await queries[0]?.answer([]);
    await queries[1]?.fail();
    for (const address of ["a", "b"]) expect(cache.nameOf(address)).toBeUndefined();
    expect([queries.length, cache.figures()]).toMatchObject([2, { negatives: 2, size: 2 }]);
    await clock.advance(100);
    for (const address of ["a", "b"]) cache.nameOf(address);
    expect([queries.length, cache.figures()]).toMatchObject([4, { expired: 2, size: 0 }]);
    await queries[2]?.fail();
    await queries[3]?.answer(["b.example"]);
    expect(lines).toEqual([
      expect.stringMatching(/"ETIMEOUT".*"the resolver does not answer reverse queries"/),
      expect.stringContaining('"the resolver answers again"'),
    ]);
  });
});

describe("the cache of reverse names", () => {
  it("asks for a few at once, in the order in which they came", async () => {
    const { cache, queries } = open();
    const addresses = Array.from({ length: 20 }, (_, index) => `address ${index}`);
    for (const address of addresses) cache.nameOf(address);
    expect(queries).toHaveLength(MAX_QUERIES);
    for (let at = 0; at < addresses.length; at += 1) await queries[at]?.answer([`name-${at}`]);
    expect(queries.map(({ address }) => address)).toEqual(addresses);
    expect(addresses.map((address) => cache.nameOf(address))).toEqual(
      addresses.map((_, at) => `name-${at}`),
    );
  });

  it("refuses what has no room, counting what is under way, and keeps what is there", async () => {
    const { cache, clock, queries } = open({ maxEntries: 2 });
    for (const address of ["a", "b", "c"]) cache.nameOf(address);
    expect([queries.length, cache.figures().overflows]).toEqual([2, 1]);
    for (const query of queries) await query.answer([`${query.address}.example`]);
    cache.nameOf("c");
    expect(cache.figures()).toMatchObject({ size: 2, overflows: 2 });
    // A purge while a refresh runs neither loses nor doubles its place.
    await clock.advance(1_000);
    cache.nameOf("a");
    expect(cache.purge()).toBe(2);
    for (const address of ["c", "d"]) cache.nameOf(address);
    expect(queries.slice(2).map(({ address }) => address)).toEqual(["a", "c"]);
    for (const query of queries.slice(2)) await query.answer([`${query.address}.example`]);
    expect(cache.figures()).toMatchObject({ size: 2, overflows: 3, purged: 2 });
  });

  it("is emptied of what is over, without a look-up", async () => {
    const { cache, clock, queries } = open();
    cache.start();
    for (const address of ["a", "b"]) cache.nameOf(address);
    await queries[0]?.answer(["a.example"]);
    await queries[1]?.answer([]);
    await clock.advance(30_000);
    await settled();
    expect(cache.figures()).toMatchObject({ size: 0, expired: 1, staleExpired: 1 });
    cache.close();
  });

  it("asks for nothing once it is closed", async () => {
    const { cache, queries } = open();
    cache.nameOf("a");
    cache.close();
    await queries[0]?.answer(["a.example"]);
    expect([cache.nameOf("a"), cache.nameOf("b"), queries.length]).toEqual([
      undefined,
      undefined,
      1,
    ]);
  });
});
