import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../../src/kernel/base/ids.ts";
import { openExpiryClock } from "../../../../src/tokens/vault/expiry/stored-clock.ts";
import { createLeases } from "../../../../src/tokens/vault/leases/leases.ts";
import { quietLog, temporaryFolder } from "../../../kernel/state/fixtures/tables.ts";
import { openLeaseEnv } from "./fixtures/bench.ts";
import { spawn } from "../../../support/spawn.ts";
import { isLongRun } from "../../../support/long-run.ts";

const KILLS = isLongRun ? 100 : 5;
const minter = fileURLToPath(new URL("./fixtures/minter.ts", import.meta.url));

/**
 * Lets the minter work until some time after it said that it started, or that a lease is stored;
 * kills it; gives the tokens whose lease it saw stored.
 */
async function mintUntilKilled(
  directory: string,
  platform: string,
  said: "started" | "ghs_",
  afterMs: number,
): Promise<string[]> {
  const child = spawn(process.execPath, [minter, directory, platform], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { promise: begun, resolve } = Promise.withResolvers<void>();
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (output.includes(said)) resolve();
  });
  const closed = new Promise((done) => child.once("close", done));
  await Promise.race([begun, closed]);
  await setTimeout(afterMs);
  child.kill("SIGKILL");
  await closed;
  return output
    .slice(0, output.lastIndexOf("\n"))
    .split("\n")
    .filter((line) => line.startsWith("ghs_"));
}

it(
  `${KILLS} kills leave no token without a record: each is leased or shown as an orphan`,
  { timeout: 300_000 + KILLS * 5_000 },
  async () => {
    const directory = temporaryFolder();
    const platform = join(temporaryFolder(), "platform");
    const stored = new Set<string>();
    let orphans = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      // Every other one is killed before its first lease is stored, unless it is quick.
      const begun = kill % 2 === 0 ? "started" : "ghs_";
      const afterMs = 10 + ((kill * 37) % 150);
      for (const token of await mintUntilKilled(directory, platform, begun, afterMs))
        stored.add(token);
      const env = await openLeaseEnv(directory);
      const leased = new Set<string>();
      const leases = createLeases({
        env,
        clock: await openExpiryClock({ env, clock: systemClock, log: quietLog }),
        ids: systemIds,
        log: quietLog,
        revoke: ({ data }) => Promise.resolve(void leased.add(String(data["token"]))),
      });
      await leases.start();
      const shown = new Set(
        (await leases.orphans(1_000_000)).map(
          ({ requestId, reason }) => `${reason} ghs_${requestId}`,
        ),
      );
      const made = existsSync(platform) ? readFileSync(platform, "utf8").trim().split("\n") : [];
      expect(env.status().rows).toMatchObject({
        lease_intents: 0,
        leases: (await leases.list("github/token/")).length,
        leases_due: leases.counts().leases + shown.size,
      });
      if (kill === KILLS - 1) {
        await leases.revokePrefix("github/", { sync: true, force: false });
        for (const token of stored) expect(leased).toContain(token);
        for (const token of made)
          expect(leased.has(token) || shown.has(`crash ${token}`)).toBe(true);
        expect(made.length).toBeGreaterThan(KILLS);
      }
      orphans = shown.size;
      await leases.stop(1_000);
      await env.close();
    }
    expect(orphans).toBeGreaterThan(0);
  },
);
