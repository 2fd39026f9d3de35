import { randomBytes } from "node:crypto";
import { statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createLeaseBench, settle } from "./fixtures/bench.ts";
import { mountSmallDisk, noSmallDisk } from "../../../kernel/state/fixtures/small-disk.ts";
import { temporaryFolder } from "../../../kernel/state/fixtures/tables.ts";
import { StewardError } from "../../../../src/kernel/base/errors.ts";

describe.skipIf(noSmallDisk !== undefined)("on a full disk", () => {
  it("no request begins, and leases still end, wait, become irrevocable and orphans, all of it stored", async () => {
    const disk = mountSmallDisk(24);
    const bench = await createLeaseBench({ directory: disk, reserveBytes: 4 * 2 ** 20 });
    const { answer, clock, env, leases, lease } = bench;
    const [gone, kept, own] = [
      await lease({ ttlMs: 3_600_000 }),
      await lease({ ttlMs: 3_600_000 }),
      await lease({ ttlMs: 3_600_000, token: { key: "mine", expiresAtMs: undefined } }),
    ];
    const begun = await leases.intend({
      requestId: "begun",
      path: "github/token",
      mountPoint: "github/",
      about: {},
    });
    writeFileSync(join(disk, "ballast"), new Uint8Array(freeBytes(disk) - 4_096));
    let refused: unknown;
    for (let at = 0; refused === undefined && at < 5_000; at += 1)
      refused = await leases
        .intend({
          requestId: `r${at}`,
          path: "github/token",
          mountPoint: "github/",
          about: { filler: "x".repeat(4_000) },
        })
        .then(
          () => undefined,
          (error: unknown) => error,
        );
    expect(refused).toMatchObject({ code: "disk_full" });
    await leases.revoke(gone.id, { sync: true });
    answer(() => Promise.reject(new StewardError("upstream", "500: no")));
    await leases.revoke(kept.id, { sync: false });
    await clock.advance(600_000);
    await leases.orphan(begun, "the answer was lost", {});
    await env.write((tx) => leases.endToken(tx, "mine"), { urgent: true });
    await settle(env);
    expect(leases.lookup(gone.id)).toBeUndefined();
    expect(leases.lookup(kept.id)).toMatchObject({ attempts: 6, irrevocable: "500: no" });
    expect(leases.lookup(own.id)).toMatchObject({ attempts: 1 });
    expect(await leases.orphans(1_000)).toContainEqual(
      expect.objectContaining({ requestId: "begun", reason: "the answer was lost" }),
    );
    expect(leases.counts()).toMatchObject({ leases: 2, irrevocable: 1 });
  });
});

describe("a store at its ceiling", () => {
  it("takes no lease, and is emptied by expiry and by the end of a token, each revoked once", async () => {
    const bench = await createLeaseBench({ directory: temporaryFolder(), maxBytes: 2 ** 21 });
    const { isRead, clock, env, leases, lease } = bench;
    const filler = (): Record<string, string> => ({ token: randomBytes(3_000).toString("base64") });
    const ids: string[] = [];
    const fill = async (): Promise<void> => {
      for (;;) {
        const response = {
          data: filler(),
          secret: { ttlMs: 60_000, renewable: false, internalData: {} },
        };
        const key = ids.length % 2 === 0 ? "mine" : "theirs";
        const { id } = await lease({ response, token: { key, expiresAtMs: undefined } });
        ids.push(id);
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: "disk_full", rule: "maxBytes" });
    expect(ids.length).toBeGreaterThan(100);
    await env.write((tx) => leases.endToken(tx, "mine"), { urgent: true });
    await clock.advance(90_000);
    expect(isRead.toSorted()).toEqual(ids.toSorted());
    expect(leases.counts()).toEqual({ leases: 0, due: 0, irrevocable: 0, orphans: 0 });
    const after = await bench.restart();
    expect(after.leases.counts().leases).toBe(0);
    await after.lease();
  });
});

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
