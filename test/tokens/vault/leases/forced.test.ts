import { describe, expect, it } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { createLog } from "../../../../src/kernel/base/log.ts";
import { temporaryFolder } from "../../../kernel/state/fixtures/tables.ts";
import { createLeaseBench, settle } from "./fixtures/bench.ts";

const HOUR = 3_600_000;

async function loggedBench(runsTwice = false) {
  const warnings: Record<string, unknown>[] = [];
  const log = createLog({
    level: "warn",
    format: "json",
    write: (line) => void warnings.push(JSON.parse(line) as Record<string, unknown>),
    now: () => 0,
  });
  const bench = await createLeaseBench({ directory: temporaryFolder(), log, runsTwice });
  return { ...bench, warnings };
}

const removed = (path: string, failed: number, notAttempted: number): unknown =>
  expect.objectContaining({
    level: "warn",
    msg: expect.stringMatching(
      new RegExp(
        `removed by force.*: ${failed + notAttempted}; .*valid until they expire.*suspend`,
      ),
    ) as string,
    path,
    revocation_failed: failed,
    revocation_not_attempted: notAttempted,
  });

describe("leases that are removed by force", () => {
  it.each([
    ["at once", { sync: true, force: true }],
    ["in the background", { sync: false, force: true }],
  ])(
    "%s are counted in the log when their tokens may still be valid: those that failed, and those that were not tried",
    async (_name, options) => {
      const { answer, clock, env, leases, lease, warnings } = await loggedBench(true);
      for (let made = 0; made < 100; made += 1) await lease({ ttlMs: HOUR });
      answer(() => new Promise(() => {}));
      const done = leases.revokePrefix("github/", options);
      await clock.advance(31_000);
      await settle(env);
      await done;
      expect(leases.counts().leases).toBe(0);
      expect(warnings).toEqual([removed("github/", 16, 84)]);
    },
  );

  it("are counted one by one when the platform refuses some, and not at all when it confirms all", async () => {
    const { answer, leases, lease, warnings } = await loggedBench();
    const force = { sync: true, force: true };
    for (let made = 0; made < 20; made += 1) await lease({ ttlMs: HOUR });
    let calls = 0;
    answer(() =>
      (calls += 1) % 4 === 0
        ? Promise.reject(new StewardError("upstream", "500: no"))
        : Promise.resolve(),
    );
    await leases.revokePrefix("github/", force);
    const single = await lease({ ttlMs: HOUR });
    answer(() => Promise.reject(new StewardError("upstream", "500: no")));
    await leases.revokePrefix(single.id, force);
    await lease({ ttlMs: HOUR });
    answer(() => Promise.resolve());
    await leases.revokePrefix("github/", force);
    expect(warnings).toEqual([removed("github/", 5, 0), removed(single.id, 1, 0)]);
  });

  it("are not warned of where the platform is known to be gone", async () => {
    const { answer, leases, lease, warnings } = await loggedBench();
    await lease({ ttlMs: HOUR });
    answer(() => Promise.reject(new StewardError("upstream", "connection refused")));
    await leases.revokePrefix("github/", { sync: true, force: true, expectsFailures: true });
    expect([leases.counts().leases, warnings]).toEqual([0, []]);
  });
});
