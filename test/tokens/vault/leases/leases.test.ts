import { describe, expect, it, vi } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { rawNumber } from "../../../../src/tokens/logical/json.ts";
import { leaseCodec } from "../../../../src/tokens/vault/leases/lease-codec.ts";
import { temporaryFolder } from "../../../kernel/state/fixtures/tables.ts";
import { createLeaseBench, settle } from "./fixtures/bench.ts";

const MINUTE = 60_000;
const HOUR = 3_600_000;
const refuse =
  (message: string, code: "upstream" | "deadline" = "upstream") =>
  () =>
    Promise.reject(new StewardError(code, message));

describe("a lease", () => {
  it("is registered with its answer and its end, found by its id, and counted", async () => {
    const { clock, leases, lease } = await createLeaseBench();
    const info = await lease({ path: "github/token/", ttlMs: HOUR });
    expect(info.id).toMatch(/^github\/token\/[0-9A-Za-z]{24}$/);
    expect(info).toEqual({
      id: info.id,
      path: "github/token",
      issuedAtMs: clock.now(),
      expiresAtMs: clock.now() + HOUR,
      renewable: false,
      irrevocable: undefined,
      attempts: 0,
      shared: false,
    });
    expect(leases.lookup(info.id)).toEqual(info);
    for (const unknown of ["", "github/token", `${info.id}x`, "x".repeat(5_000), "\ud800"])
      expect(leases.lookup(unknown)).toBeUndefined();
    expect(leases.counts()).toEqual({ leases: 1, irrevocable: 0, orphans: 0, due: 0 });
  });

  it("ends at its time and not before, by its backend, which gets all that was answered and kept", async () => {
    const { isRead, clock, env, leases, lease, answer } = await createLeaseBench();
    const seen: unknown[] = [];
    answer((given) => {
      seen.push({ ...given });
      return Promise.resolve();
    });
    const info = await lease({ ttlMs: MINUTE });
    await clock.advance(MINUTE - 1_000);
    expect([isRead, leases.lookup(info.id)?.id]).toEqual([[], info.id]);
    await clock.advance(1_500);
    expect(seen).toEqual([
      {
        id: info.id,
        path: "github/token",
        mountPoint: "github/",
        data: { token: "ghs_secret-1" },
        internalData: { secret_type: "github_token" },
      },
    ]);
    expect(leases.lookup(info.id)).toBeUndefined();
    expect(Object.values(env.status().rows).reduce((sum, rows) => sum + rows, 0)).toBe(1); // the clock's mark is all that is left
  });

  it("ends after a restart if its time came meanwhile, and at its time if it did not", async () => {
    const bench = await createLeaseBench();
    const over = await bench.lease({ ttlMs: MINUTE });
    const later = await bench.lease({ ttlMs: 10 * MINUTE });
    const again = await bench.restart({ downMs: 5 * MINUTE });
    await settle(again.env);
    expect(again.isRead).toEqual([over.id]);
    await again.clock.advance(5 * MINUTE - 2_000);
    expect(again.leases.lookup(later.id)).toEqual(later);
    await again.clock.advance(3_000);
    expect(again.isRead).toEqual([over.id, later.id]);
    expect((await again.lease()).id).not.toBe(later.id);
  });

  it("does not need the mount or the configuration it came from: what it is revoked with lies in the lease", async () => {
    const bench = await createLeaseBench();
    const info = await bench.lease({ path: "gone/token", mountPoint: "gone/" });
    const again = await bench.restart();
    await again.leases.revoke(info.id, { sync: true });
    expect(again.tokens).toEqual(["ghs_secret-1"]);
  });

  it("keeps the token of an answer that is far too long, and leaves out what is nested", async () => {
    const { leases, lease, answer } = await createLeaseBench();
    const repositories = Array.from({ length: 5_000 }, (_, id) => ({
      id,
      name: `repository-${id}`,
      description: "x".repeat(500),
    }));
    const info = await lease({
      response: {
        data: { token: "ghs_large", repositories, installation_id: rawNumber("90071992547409931") },
        secret: { ttlMs: 1, renewable: false, internalData: {} },
      },
    });
    let seen: unknown;
    answer(({ data }) => Promise.resolve(void (seen = data)));
    await leases.revoke(info.id, { sync: true });
    expect(seen).toEqual({ token: "ghs_large", installation_id: rawNumber("90071992547409931") });
  });
});

describe("the wall clock", () => {
  it("set back does not lengthen a lease", async () => {
    const { isRead, clock, leases, lease } = await createLeaseBench();
    const info = await lease({ ttlMs: 10 * MINUTE });
    await clock.advance(MINUTE);
    clock.step(-HOUR);
    expect(leases.lookup(info.id)).toMatchObject({ expiresAtMs: clock.now() + 9 * MINUTE });
    await clock.advance(9 * MINUTE - 1_000);
    expect(isRead).toEqual([]);
    await clock.advance(2_000);
    expect(isRead).toEqual([info.id]);
  });

  it("set ahead ends no lease before its time has passed, and set right again lengthens none", async () => {
    const { isRead, clock, lease } = await createLeaseBench();
    const first = await lease({ ttlMs: HOUR });
    clock.step(400 * 24 * HOUR);
    await clock.advance(11_000); // it is looked at every ten seconds
    expect(isRead).toEqual([]);
    const second = await lease({ ttlMs: 10 * MINUTE });
    expect(second.expiresAtMs).toBe(clock.now() + 10 * MINUTE);
    clock.step(-400 * 24 * HOUR);
    const third = await lease({ ttlMs: 10 * MINUTE });
    expect(third.expiresAtMs).toBe(clock.now() + 10 * MINUTE);
    await clock.advance(10 * MINUTE + 1_000);
    expect(isRead).toEqual([second.id, third.id]);
    await clock.advance(50 * MINUTE);
    expect(isRead).toEqual([second.id, third.id, first.id]);
  });

  it("set back while nothing runs does not lengthen a lease by more than the time since the last mark", async () => {
    const bench = await createLeaseBench();
    const info = await bench.lease({ ttlMs: 30 * MINUTE });
    await bench.clock.advance(20 * MINUTE);
    const again = await bench.restart({ stepMs: -10 * HOUR });
    expect(again.leases.lookup(info.id)?.expiresAtMs).toBeLessThanOrEqual(
      again.clock.now() + 11 * MINUTE,
    );
    await again.clock.advance(11 * MINUTE + 1_000);
    expect(again.isRead).toEqual([info.id]);
  });

  it("that was ahead once is known to have been ahead after a restart, and time that passes meanwhile counts", async () => {
    const bench = await createLeaseBench();
    bench.clock.step(100 * HOUR);
    const info = await bench.lease({ ttlMs: HOUR });
    bench.clock.step(-100 * HOUR);
    await bench.clock.advance(11_000);
    const again = await bench.restart({ downMs: 30 * MINUTE });
    await again.clock.advance(29 * MINUTE);
    expect(again.isRead).toEqual([]);
    await again.clock.advance(2 * MINUTE);
    expect(again.isRead).toEqual([info.id]);
  });
});

describe("a revocation that fails", () => {
  it("is tried six times with growing waits, over a restart, and is then left alone and in sight until a tidy", async () => {
    const bench = await createLeaseBench();
    bench.answer(refuse("unable to revoke access token: 500: no"));
    const info = await bench.lease({ ttlMs: 1_000 });
    await bench.clock.advance(2_000);
    expect(bench.leases.lookup(info.id)).toMatchObject({ attempts: 1, irrevocable: undefined });
    expect(bench.leases.counts()).toMatchObject({ leases: 1, due: 1, irrevocable: 0 });
    while (bench.isRead.length < 2) await bench.clock.advance(500);
    const again = await bench.restart();
    again.answer(refuse("unable to revoke access token: 502: no"));
    await again.clock.advance(8_000);
    expect([again.isRead.length, again.leases.lookup(info.id)?.attempts]).toEqual([0, 2]);
    await again.clock.advance(10 * 1.5 * (2 + 4 + 8 + 16) * 1_000);
    expect(again.isRead.length).toBe(4);
    const irrevocable = expect.objectContaining({
      id: info.id,
      attempts: 6,
      irrevocable: "unable to revoke access token: 502: no",
    }) as unknown;
    expect([
      await again.leases.irrevocable(10),
      again.leases.lookup(info.id),
      again.leases.counts(),
    ]).toEqual([[irrevocable], irrevocable, { leases: 1, irrevocable: 1, orphans: 0, due: 0 }]);
    await again.clock.advance(24 * HOUR);
    expect(again.isRead.length).toBe(4);
    await again.leases.tidy();
    await settle(again.env);
    expect([again.isRead.length, (await again.leases.irrevocable(10)).length]).toEqual([5, 1]);
    again.answer(() => Promise.resolve());
    await again.leases.tidy();
    await settle(again.env);
    expect(again.leases.counts()).toEqual({ leases: 0, irrevocable: 0, orphans: 0, due: 0 });
  });

  it("waits half to one and a half times 10 s, doubled each time", async () => {
    const { clock, answer, isRead, lease } = await createLeaseBench();
    const at: number[] = [];
    answer(() => {
      at.push(clock.monotonic());
      return Promise.reject(new StewardError("upstream", "no"));
    });
    await lease({ ttlMs: 1_000 });
    await clock.advance(500_000);
    const waits = at
      .slice(1)
      .map((atMs, index) => (atMs - (at[index] ?? 0)) / (10_000 * 2 ** index));
    expect(isRead.length).toBe(6);
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(0.5);
    for (const [index, wait] of waits.entries())
      expect(wait).toBeLessThanOrEqual(1.5 + 3_500 / (10_000 * 2 ** index));
    expect(new Set(waits.map((wait) => wait.toFixed(3))).size).toBeGreaterThan(1);
  });

  it("does not wait for a backend that never answers, and never shows what was leased", async () => {
    const { clock, answer, leases, lease } = await createLeaseBench();
    answer(() => new Promise(() => {}));
    const hanging = await lease({ ttlMs: 1_000 });
    await clock.advance(32_000);
    expect(leases.lookup(hanging.id)?.attempts).toBe(1);
    answer(refuse("500: you sent ghs_secret-2, said the platform"));
    const echoing = await lease({ ttlMs: HOUR });
    await expect(leases.revoke(echoing.id, { sync: true })).rejects.toThrow(
      "500: you sent [secret], said the platform",
    );
  });

  it("keeps at most 48 calls under way, and a failure of some does not hold up the others", async () => {
    const { clock, env, answer, leases, lease } = await createLeaseBench();
    let running = 0;
    let most = 0;
    answer(async ({ data }) => {
      most = Math.max(most, (running += 1));
      await new Promise(setImmediate);
      running -= 1;
      if (String(data["token"]).endsWith("7")) throw new StewardError("upstream", "no");
    });
    for (let made = 0; made < 300; made += 1) await lease({ ttlMs: 1_000 });
    await clock.advance(1_500);
    for (let round = 0; round < 30; round += 1) await settle(env);
    expect(leases.counts()).toEqual({ leases: 30, due: 30, irrevocable: 0, orphans: 0 });
    expect(most).toBeGreaterThan(16);
    expect(most).toBeLessThanOrEqual(48);
  });
});

describe("revoking", () => {
  it("waits for the backend when asked to, keeps the lease and passes on the error when that fails, and is fine with unknown ids", async () => {
    const { answer, isRead, leases, lease } = await createLeaseBench();
    const info = await lease();
    answer(refuse("unable to revoke access token: 500: no"));
    await expect(leases.revoke(info.id, { sync: true })).rejects.toMatchObject({
      code: "upstream",
      message: "unable to revoke access token: 500: no",
    });
    expect(leases.lookup(info.id)).toMatchObject({ attempts: 0 });
    answer(() => Promise.resolve());
    await leases.revoke(info.id, { sync: true });
    expect(leases.lookup(info.id)).toBeUndefined();
    await leases.revoke(info.id, { sync: true });
    await leases.revoke("nothing/there", { sync: false });
    expect(isRead).toEqual([info.id, info.id]);
  });

  it("is done in the background otherwise, survives a restart, and is counted until it is over", async () => {
    const bench = await createLeaseBench();
    const info = await bench.lease({ ttlMs: HOUR });
    await bench.leases.stop(0);
    await bench.leases.revoke(info.id, { sync: false });
    expect(bench.leases.counts()).toMatchObject({ leases: 1, due: 1 });
    const again = await bench.restart();
    await settle(again.env);
    expect([again.isRead, again.leases.counts()]).toEqual([
      [info.id],
      { leases: 0, due: 0, irrevocable: 0, orphans: 0 },
    ]);
  });

  it("asks at most 16 backends at once for those who wait", async () => {
    const { answer, leases, lease } = await createLeaseBench();
    let running = 0;
    let most = 0;
    answer(async () => {
      most = Math.max(most, (running += 1));
      await new Promise(setImmediate);
      running -= 1;
    });
    const infos = await Promise.all(Array.from({ length: 100 }, () => lease({ ttlMs: HOUR })));
    await Promise.all(infos.map(({ id }) => leases.revoke(id, { sync: true })));
    expect([most, leases.counts().leases]).toEqual([16, 0]);
  });

  it("below a prefix ends all of it and nothing else, whichever way, and not what comes later", async () => {
    for (const options of [
      { sync: true, force: false },
      { sync: false, force: false },
      { sync: true, force: true },
      { sync: false, force: true },
    ]) {
      const { isRead, env, leases, lease } = await createLeaseBench();
      const inside = new Set<string>();
      for (let made = 0; made < 100; made += 1)
        inside.add(
          (await lease({ path: made % 3 === 0 ? "github/token/a" : "github/token", ttlMs: HOUR }))
            .id,
        );
      const outside = [
        await lease({ path: "github/tokens", ttlMs: HOUR }),
        await lease({ path: "github2/token", ttlMs: HOUR }),
      ];
      const done = leases.revokePrefix("github/token", options);
      const { info: late } = leases.register({
        path: "github/token",
        mountPoint: "github/",
        ttlMs: HOUR,
        token: undefined,
        intent: undefined,
        response: { data: { token: "late" } },
      });
      await done;
      for (let round = 0; round < 20; round += 1) await settle(env);
      expect(new Set(isRead)).toEqual(inside);
      expect(leases.lookup(late.id)).toBeDefined();
      for (const { id } of outside) expect(leases.lookup(id)).toBeDefined();
      expect(leases.counts()).toEqual({ leases: 3, due: 0, irrevocable: 0, orphans: 0 });
      expect(env.status().rows["lease_prefix_sweeps"]).toBe(0);
    }
  });

  it("below a prefix ends those that are registered and not stored yet, too", async () => {
    for (const options of [
      { sync: true, force: false },
      { sync: false, force: false },
      { sync: true, force: true },
      { sync: false, force: true },
    ]) {
      const { env, leases, tokens } = await createLeaseBench();
      const { stored } = leases.register({
        path: "github/token",
        mountPoint: "github/",
        ttlMs: HOUR,
        token: undefined,
        intent: undefined,
        response: { data: { token: "new" } },
      });
      await leases.revokePrefix("github/", options);
      await stored;
      for (let round = 0; round < 20; round += 1) await settle(env);
      expect([tokens, leases.counts().leases]).toEqual([["new"], 0]);
    }
  });

  it("below a prefix names the lease that could not be revoked and keeps it; forced, it is gone whatever the backend says", async () => {
    const { answer, isRead, leases, lease } = await createLeaseBench();
    const info = await lease();
    answer(refuse("500: no"));
    await expect(
      leases.revokePrefix("github/", { sync: true, force: false }),
    ).rejects.toMatchObject({
      code: "upstream",
      message: `failed to revoke "${info.id}": 500: no`,
    });
    expect(leases.counts().leases).toBe(1);
    await leases.revokePrefix("github/", { sync: true, force: true });
    expect([isRead.length, leases.counts().leases]).toEqual([2, 0]);
    const single = await lease();
    await leases.revokePrefix(single.id, { sync: true, force: true });
    expect([isRead.length, leases.counts().leases]).toEqual([3, 0]);
  });

  it("by force asks no more once a whole batch of backends has not answered", async () => {
    const { answer, isRead, clock, env, leases, lease } = await createLeaseBench();
    for (let made = 0; made < 100; made += 1) await lease({ ttlMs: HOUR });
    answer(() => new Promise(() => {}));
    const done = leases.revokePrefix("github/", { sync: true, force: true });
    await clock.advance(31_000);
    await settle(env);
    await done;
    expect([isRead.length, leases.counts().leases]).toEqual([16, 0]);
  });

  it("tries irrevocable leases anew when somebody asks", async () => {
    const { answer, clock, env, leases, lease } = await createLeaseBench();
    answer(refuse("500: no"));
    const info = await lease({ ttlMs: 1_000 });
    await clock.advance(600_000);
    expect((await leases.irrevocable(10)).map(({ id }) => id)).toEqual([info.id]);
    answer(() => Promise.resolve());
    await leases.revoke(info.id, { sync: false });
    await settle(env);
    expect(leases.counts()).toEqual({ leases: 0, due: 0, irrevocable: 0, orphans: 0 });
  });
});

describe("leases that could not be revoked", () => {
  it("are read as many as are asked for, the oldest first", async () => {
    const { answer, clock, env, leases, lease } = await createLeaseBench();
    answer(refuse("500: no"));
    const ids: string[] = [];
    for (let count = 0; count < 150; count += 1) ids.push((await lease({ ttlMs: 1_000 })).id);
    await clock.advance(600_000);
    using get = vi.spyOn(leaseCodec, "read");
    expect((await leases.irrevocable(2)).map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(get).toHaveBeenCalledTimes(2);
    expect((await leases.irrevocable(1_000)).map(({ id }) => id)).toEqual(ids);
    await env.close();
  });
});

describe("the end of a token", () => {
  it("ends its leases, however many, by a small change, and no others", async () => {
    const { isRead, env, leases, lease } = await createLeaseBench();
    const mine = new Set(
      await Promise.all(
        Array.from(
          { length: 3_000 },
          async () =>
            (await lease({ ttlMs: HOUR, token: { key: "mine", expiresAtMs: undefined } })).id,
        ),
      ),
    );
    const other = await lease({ ttlMs: HOUR, token: { key: "mine2", expiresAtMs: undefined } });
    await env.write((tx) => leases.endToken(tx, "mine"));
    for (let round = 0; round < 400 && leases.counts().leases > 1; round += 1) await settle(env);
    expect(new Set(isRead)).toEqual(mine);
    expect(leases.lookup(other.id)).toEqual(other);
  });

  it("ends all its leases when the disk fills up meanwhile, so that changes run again", async () => {
    const { isRead, env, leases, lease } = await createLeaseBench({
      directory: temporaryFolder(),
      runsTwice: true,
    });
    const mine = new Set<string>();
    for (let count = 0; count < 150; count += 1)
      mine.add((await lease({ ttlMs: HOUR, token: { key: "mine", expiresAtMs: undefined } })).id);
    await env.write((tx) => leases.endToken(tx, "mine"));
    await expect.poll(() => leases.counts().leases).toBe(0);
    expect(new Set(isRead)).toEqual(mine);
  });

  it("also ends a lease that a request under way registers afterwards, and is forgotten once no such request can be left", async () => {
    const { isRead, clock, env, leases, lease } = await createLeaseBench();
    await env.write((tx) => leases.endToken(tx, "mine"));
    const late = await lease({ ttlMs: HOUR, token: { key: "mine", expiresAtMs: undefined } });
    await settle(env);
    expect(isRead).toEqual([late.id]);
    await clock.advance(6 * MINUTE);
    expect(env.status().rows).toMatchObject({ lease_ended_tokens: 0, leases_due: 0 });
  });

  it.each(["a seal", "a crash"])(
    "revokes its leases when their sweep begins only six minutes later, after %s",
    async (cause) => {
      const bench = await createLeaseBench();
      const mine = new Set<string>();
      for (let count = 0; count < 150; count += 1)
        mine.add(
          (await bench.lease({ ttlMs: HOUR, token: { key: "mine", expiresAtMs: undefined } })).id,
        );
      let after = bench;
      if (cause === "a seal") await bench.leases.stop(0);
      await bench.env.write((tx) => bench.leases.endToken(tx, "mine"));
      if (cause === "a crash") after = await bench.restart({ downMs: 6 * MINUTE });
      else {
        await bench.clock.advance(6 * MINUTE);
        await bench.leases.start();
      }
      for (let round = 0; round < 50 && after.leases.counts().leases > 0; round += 1)
        await settle(after.env);
      expect(new Set(after.isRead)).toEqual(mine);
      expect(after.env.status().rows).toMatchObject({ lease_ended_tokens: 0, leases_due: 0 });
    },
  );

  it("does nothing when the change that ends it is not stored", async () => {
    const { isRead, env, leases, lease } = await createLeaseBench();
    await lease({ ttlMs: HOUR });
    await expect(
      env.write((tx) => {
        leases.endToken(tx, "owner");
        throw new Error("no");
      }),
    ).rejects.toThrow("no");
    await settle(env);
    expect(isRead).toEqual([]);
  });
});
