import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { createShares } from "../../../../src/tokens/vault/leases/shares.ts";
import type { StoredLease } from "../../../../src/tokens/vault/leases/revoker.ts";
import { leases as leaseRows, leaseShares } from "../../../../src/tokens/vault/leases/tables.ts";
import type { LeaseTransitions } from "../../../../src/tokens/vault/leases/transitions.ts";
import type { LeaseSpec } from "../../../../src/tokens/vault/types.ts";
import { createLeaseBench, settle, type LeaseBench } from "./fixtures/bench.ts";

const MINUTE = 60_000;

function held(share: string, more: Partial<LeaseSpec> = {}): Partial<LeaseSpec> {
  return {
    ...more,
    response: {
      data: { token: `ghs_${share}` },
      secret: {
        ttlMs: MINUTE,
        renewable: false,
        internalData: { secret_type: "github_token" },
        share: { id: share, reused: true },
      },
    },
  };
}

async function leasesOf(bench: LeaseBench, share: string, count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at += 1) ids.push((await bench.lease(held(share))).id);
  return ids;
}

describe("leases of one token", () => {
  it.each<[string, (bench: LeaseBench, ids: readonly string[]) => Promise<unknown>]>([
    [
      "revoked one by one",
      async ({ leases }, ids) => {
        for (const id of ids) await leases.revoke(id, { sync: true });
      },
    ],
    [
      "revoked all at once",
      ({ leases }, ids) => Promise.all(ids.map((id) => leases.revoke(id, { sync: true }))),
    ],
    [
      "revoked in the background",
      async ({ leases, clock }, ids) => {
        await Promise.all(ids.map((id) => leases.revoke(id, { sync: false })));
        await clock.advance(1_000);
      },
    ],
    [
      "revoked by prefix",
      ({ leases }) => leases.revokePrefix("github/", { sync: true, force: false }),
    ],
    [
      "revoked by force",
      ({ leases }) => leases.revokePrefix("github", { sync: true, force: true }),
    ],
    ["that expire together", ({ clock }) => clock.advance(MINUTE + 2_000)],
  ])("%s call the backend once", async (_, end) => {
    const bench = await createLeaseBench();
    const ids = await leasesOf(bench, "one", 40);
    await end(bench, ids);
    await settle(bench.env);
    expect(bench.tokens).toEqual(["ghs_one"]);
    expect(bench.leases.counts()).toMatchObject({ leases: 0, due: 0 });
    expect(bench.env.read((snapshot) => snapshot.count(leaseShares))).toBe(0);
  });

  it("call nothing while one of them lives, also when that one outlives a restart", async () => {
    const bench = await createLeaseBench();
    const [first = "", second = "", third = ""] = await leasesOf(bench, "one", 3);
    await bench.leases.revoke(first, { sync: true });
    const again = await bench.restart();
    expect(again.leases.sharing.isOpen("one")).toBe(false);
    await again.leases.revoke(third, { sync: true });
    expect(again.tokens).toEqual([]);
    await again.leases.revoke(second, { sync: true });
    expect([...bench.tokens, ...again.tokens]).toEqual(["ghs_one"]);
  });

  it("count from their registration, not from their row: the last one waits for it", async () => {
    const bench = await createLeaseBench();
    const [first = ""] = await leasesOf(bench, "one", 1);
    const revoked = bench.leases.revoke(first, { sync: true });
    const second = bench.lease(held("one"));
    const [info] = await Promise.all([second, revoked]);
    expect(bench.tokens).toEqual([]);
    await bench.leases.revoke(info.id, { sync: true });
    expect(bench.tokens).toEqual(["ghs_one"]);
  });

  it("say that they may share, and others that they do not", async () => {
    const bench = await createLeaseBench();
    const shared = await bench.lease(held("one"));
    const alone = await bench.lease();
    expect([shared.shared, alone.shared]).toEqual([true, false]);
    expect(bench.leases.newest(2).map((info) => info.shared)).toEqual([false, true]);
  });

  it("are kept with the last one when the backend fails, which is tried again", async () => {
    const bench = await createLeaseBench();
    const [first = "", second = ""] = await leasesOf(bench, "one", 2);
    bench.answer(() => Promise.reject(new StewardError("upstream", "down")));
    await bench.leases.revoke(first, { sync: true });
    await expect(bench.leases.revoke(second, { sync: true })).rejects.toThrow("down");
    expect(bench.leases.lookup(second)?.id).toBe(second);
    bench.answer(() => Promise.resolve());
    await bench.clock.advance(2 * MINUTE);
    expect(bench.leases.lookup(second)).toBeUndefined();
    expect(bench.tokens).toEqual(["ghs_one", "ghs_one"]);
  });

  it("in any order of leasing and revoking end their token with the last of them, and only then", async () => {
    const step = fc.record({
      share: fc.integer({ min: 0, max: 2 }),
      act: fc.constantFrom("lease", "lease", "revoke", "background", "together"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const bench = await createLeaseBench();
        const live = [0, 1, 2].map((): string[] => []);
        const generation = [0, 0, 0];
        const expected: string[] = [];
        for (const { share, act } of steps) {
          const ids = live[share] ?? [];
          const name = `${share}-${generation[share]}`;
          if (act === "lease") ids.push((await bench.lease(held(name))).id);
          else {
            const ended = ids.splice(0, act === "together" ? ids.length : 1);
            await Promise.all(
              ended.map((id) => bench.leases.revoke(id, { sync: act !== "background" })),
            );
            if (act === "background") await bench.clock.advance(1_000);
            if (ended.length > 0 && ids.length === 0) {
              expected.push(`ghs_${name}`);
              generation[share] = (generation[share] ?? 0) + 1;
            }
          }
          await settle(bench.env);
          expect(bench.tokens).toEqual(expected);
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe("a token may get further leases", () => {
  it("until its last lease ends, even before the backend has answered", async () => {
    const bench = await createLeaseBench();
    const { sharing } = bench.leases;
    expect(sharing.isOpen("one")).toBe(false);
    sharing.open("one", "github/token");
    const [first = "", second = ""] = await leasesOf(bench, "one", 2);
    await bench.leases.revoke(first, { sync: true });
    expect(sharing.isOpen("one")).toBe(true);
    let during: boolean | undefined;
    bench.answer(() => Promise.resolve(void (during = sharing.isOpen("one"))));
    await bench.leases.revoke(second, { sync: true });
    expect([during, sharing.isOpen("one")]).toEqual([false, false]);
  });

  it.each([true, false])(
    "until a prefix of its path is to be revoked (waiting: %s), and not a prefix beside it",
    async (sync) => {
      const { leases } = await createLeaseBench();
      leases.sharing.open("one", "github/token/ci");
      const end = (prefix: string) => leases.revokePrefix(prefix, { sync, force: false });
      await end("github/token/c");
      await end("github/token/cid/");
      await end("other/");
      expect(leases.sharing.isOpen("one")).toBe(true);
      const ended = end("github/token/ci");
      expect(leases.sharing.isOpen("one")).toBe(false);
      await ended;
    },
  );

  it("unless 10,000 younger ones do", async () => {
    const { leases } = await createLeaseBench();
    for (let at = 0; at <= 10_000; at += 1) leases.sharing.open(`s${at}`, "github/token");
    expect([0, 1, 10_000].map((at) => leases.sharing.isOpen(`s${at}`))).toEqual([
      false,
      true,
      true,
    ]);
  });
});

describe("a lease that could not be stored", () => {
  it("leaves its token to the others who hold it, and is revoked when there are none", async () => {
    const bench = await createLeaseBench();
    const { sharing } = bench.leases;
    sharing.open("one", "github/token");
    const [only = ""] = await leasesOf(bench, "one", 1);
    expect([await sharing.abandon("one"), sharing.isOpen("one")]).toEqual([false, true]);
    await bench.leases.revoke(only, { sync: true });
    sharing.open("two", "github/token");
    expect([await sharing.abandon("two"), sharing.isOpen("two")]).toEqual([true, false]);
  });

  it("does not keep the last one from being revoked", async () => {
    const { env, leases, lease } = await createLeaseBench();
    const { id } = await lease(held("one"));
    const seq = 1;
    const row = env.read((snapshot) => snapshot.get(leaseRows, seq));
    expect(row?.id).toBe(id);
    const transitions = { remove: () => true } as unknown as LeaseTransitions;
    const shares = createShares({ env, transitions });
    const { promise: stored, reject } = Promise.withResolvers<void>();
    shares.join("one", stored);
    const batch = [{ seq, row }] as StoredLease[];
    const released = shares.release(batch);
    await settle(env);
    reject(new StewardError("disk_full", "the store is full"));
    expect(await released).toEqual({ removed: [], last: batch });
    expect(leases.counts().leases).toBe(1);
  });
});
