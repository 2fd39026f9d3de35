import { describe, expect, it, onTestFinished } from "vitest";
import { orphans } from "../../../../src/tokens/vault/leases/tables.ts";
import { temporaryFolder } from "../../../kernel/state/fixtures/tables.ts";
import { createLeaseBench } from "./fixtures/bench.ts";

const HOUR = 3_600_000;
const request = (requestId: string) => ({
  requestId,
  path: "github/token",
  mountPoint: "github/",
  about: { org_name: "example-org" },
});

describe("a request that may make something", () => {
  it("is recorded until a lease takes its place or it is known to have made nothing", async () => {
    const { env, leases, lease } = await createLeaseBench();
    const [kept, dropped] = [
      await leases.intend(request("kept")),
      await leases.intend(request("dropped")),
    ];
    expect(env.status().rows["lease_intents"]).toBe(2);
    leases.drop(dropped);
    await lease({ intent: kept });
    expect(env.status().rows).toMatchObject({ lease_intents: 0, lease_orphans: 0, leases: 1 });
  });

  it("becomes an orphan when nobody knows what came of it, shown with what was asked until its latest expiry", async () => {
    const { clock, leases } = await createLeaseBench(
      { directory: temporaryFolder() },
      { orphanLifeMs: HOUR },
    );
    const began = clock.now();
    const intent = await leases.intend(request("lost"));
    await clock.advance(5_000);
    await leases.orphan(intent, "the platform's answer was lost", { installation_id: 7 });
    expect(await leases.orphans(1_000)).toEqual([
      {
        requestId: "lost",
        path: "github/token",
        beganAtMs: began,
        untilMs: began + HOUR,
        about: { org_name: "example-org", installation_id: 7 },
        reason: "the platform's answer was lost",
      },
    ]);
    expect(leases.counts()).toMatchObject({ orphans: 1, leases: 0 });
    await clock.advance(HOUR - 6_000);
    expect((await leases.orphans(1_000)).length).toBe(1);
    await clock.advance(2_000);
    expect(await leases.orphans(1_000)).toEqual([]);
  });

  it("is recorded without what was asked, or what the backend says of it, where that is too long", async () => {
    const { leases } = await createLeaseBench();
    const asked = { repositories: Array.from({ length: 400 }, () => "x".repeat(40)) };
    const long = await leases.intend({ ...request("long"), about: asked });
    await leases.orphan(long, "lost", { installation_id: 7 });
    const escaped = await leases.intend({ ...request("escaped"), about: { a: '"'.repeat(9_000) } });
    await leases.orphan(escaped, "lost", asked);
    const found = await leases.orphans(1_000);
    expect(Object.fromEntries(found.map(({ requestId, about }) => [requestId, about]))).toEqual({
      escaped: {},
      long: { installation_id: 7 },
    });
  });

  it("is an orphan of the crash at the next start, an hour and ten minutes long, and that is not begun anew by another crash", async () => {
    const bench = await createLeaseBench();
    await Promise.all(
      Array.from({ length: 150 }, (_, at) => bench.leases.intend(request(`r${at}`))),
    );
    const began = bench.clock.now();
    const once = await bench.restart({ downMs: 600_000 });
    expect(once.leases.counts()).toMatchObject({ orphans: 150 });
    const order: string[] = [];
    setImmediate(() => order.push("other work"));
    order.push(`${(await once.leases.orphans(1_000)).length} orphans`);
    expect(order).toEqual(["other work", "150 orphans"]);
    const twice = await once.restart({ downMs: 600_000 });
    expect((await twice.leases.orphans(1))[0]).toMatchObject({
      reason: "crash",
      beganAtMs: began,
      untilMs: began + 70 * 60_000,
      about: { org_name: "example-org" },
    });
    await twice.clock.advance(51 * 60_000);
    expect(twice.leases.counts()).toMatchObject({ orphans: 0 });
  });

  it("is an orphan of the crash at the next start, however much was asked", async () => {
    const bench = await createLeaseBench();
    const about = { repositories: "€".repeat(16_000) };
    await Promise.all(
      Array.from({ length: 100 }, (_, at) => bench.leases.intend({ ...request(`r${at}`), about })),
    );
    const { leases } = await bench.restart();
    expect(
      (await leases.orphans(1_000)).filter((orphan) => orphan.about["repositories"]).length,
    ).toBe(100);
  });

  it("is refused once as many tokens may be out there as can be recorded, so that the next start records them all", async () => {
    const limit = orphans.limit as { rows: number };
    const { rows } = limit;
    onTestFinished(() => void (limit.rows = rows));
    limit.rows = 3;
    const bench = await createLeaseBench({ directory: temporaryFolder() }, { orphanLifeMs: HOUR });
    for (const id of ["a", "b"]) {
      const intent = await bench.leases.intend(request(id));
      await bench.leases.orphan(intent, "the platform's answer was lost", {});
    }
    await bench.leases.intend(request("c"));
    await expect(bench.leases.intend(request("d"))).rejects.toMatchObject({
      code: "disk_full",
      rule: "orphan limit",
    });
    const { clock, leases } = await bench.restart();
    expect((await leases.orphans(10)).map(({ requestId }) => requestId)).toEqual(["a", "b", "c"]);
    expect(await leases.orphans(2)).toHaveLength(2);
    await clock.advance(2 * HOUR);
    await leases.intend(request("d"));
  });

  it("that was taken for one of a crash is none when its lease comes after all", async () => {
    const { leases, lease } = await createLeaseBench();
    const intent = await leases.intend(request("slow"));
    await leases.stop(0);
    await leases.start();
    expect(leases.counts().orphans).toBe(1);
    await lease({ intent });
    expect(leases.counts()).toMatchObject({ orphans: 0, leases: 1 });
  });

  it("is refused under a path that no lease id could be made of, before anything happens", async () => {
    const { env, leases } = await createLeaseBench();
    for (const path of [`github/${"x".repeat(1_500)}`, "github/\ud800"])
      await expect(leases.intend({ ...request("long"), path })).rejects.toMatchObject({
        code: "invalid",
      });
    expect(env.status().rows["lease_intents"]).toBe(0);
  });
});
